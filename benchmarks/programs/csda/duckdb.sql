CREATE TABLE NullEdge AS
FROM read_csv('NullEdge.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER'});
CREATE TABLE Edge AS
FROM read_csv('Edge.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER'});

WITH RECURSIVE NullNode(x, y) AS (
    SELECT x, y FROM NullEdge
    UNION
    SELECT NullNode.x, Edge.y FROM NullNode JOIN Edge ON NullNode.y = Edge.x
)
SELECT 'NullNode', count(*) FROM NullNode;
