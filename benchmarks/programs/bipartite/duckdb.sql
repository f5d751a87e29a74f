CREATE TABLE Arc AS
FROM read_csv('Arc.facts', delim = '\t', header = false, columns = {'y': 'INTEGER', 'x': 'INTEGER'});
CREATE TABLE Source AS
FROM read_csv('Source.facts', delim = '\t', header = false, columns = {'x': 'INTEGER'});

-- Zero and One are recursive through each other; recursive SQL has one relation, so the colour becomes a column.
CREATE TABLE Neighbour AS SELECT x AS node, y AS other FROM Arc UNION SELECT y, x FROM Arc;
CREATE TABLE Painted AS
WITH RECURSIVE Coloured(node, one) AS (
    SELECT x, false FROM Source
    UNION
    SELECT Neighbour.other, NOT one FROM Coloured JOIN Neighbour ON Neighbour.node = Coloured.node
)
FROM Coloured;

SELECT 'Zero', count(*) FROM Painted WHERE NOT one;
SELECT 'One', count(*) FROM Painted WHERE one;
SELECT 'BipartiteViolation', count(*) FROM (SELECT node FROM Painted GROUP BY node HAVING count(*) = 2);
