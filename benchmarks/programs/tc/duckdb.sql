CREATE TABLE Arc AS
FROM read_csv('Arc.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER'});

WITH RECURSIVE Tc(x, y) AS (
    SELECT x, y FROM Arc
    UNION
    SELECT Tc.x, Arc.y FROM Tc JOIN Arc ON Tc.y = Arc.x
)
SELECT 'Tc', count(*) FROM Tc;
