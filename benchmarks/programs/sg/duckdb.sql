CREATE TABLE Arc AS
FROM read_csv('Arc.facts', delim = '\t', header = false, columns = {'src': 'INTEGER', 'dest': 'INTEGER'});

WITH RECURSIVE Sg(src, dest) AS (
    SELECT one.dest, other.dest FROM Arc AS one JOIN Arc AS other ON one.src = other.src AND one.dest != other.dest
    UNION
    SELECT one.dest, other.dest
    FROM Sg JOIN Arc AS one ON one.src = Sg.src JOIN Arc AS other ON other.src = Sg.dest
)
SELECT 'Sg', count(*) FROM Sg;
