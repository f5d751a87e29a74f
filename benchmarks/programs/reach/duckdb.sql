CREATE TABLE Source AS
FROM read_csv('Source.facts', delim = '\t', header = false, columns = {'id': 'INTEGER'});
CREATE TABLE Arc AS
FROM read_csv('Arc.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER'});

WITH RECURSIVE Reach(id) AS (
    SELECT id FROM Source
    UNION
    SELECT Arc.y FROM Reach JOIN Arc ON Reach.id = Arc.x
)
SELECT 'Reach', count(*) FROM Reach;
