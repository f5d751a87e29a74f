CREATE TABLE Arc AS
FROM read_csv('Arc.facts', delim = '\t', header = false, columns = {'a': 'INTEGER', 'b': 'INTEGER'});

-- CC is what the last round changed, recurring.CC the smallest label of every node so far.
CREATE TABLE Labelled AS
WITH RECURSIVE CC(node, cc) USING KEY (node) AS (
    SELECT DISTINCT a, a FROM Arc
    UNION
    SELECT Arc.b, min(CC.cc)
    FROM CC JOIN Arc ON CC.node = Arc.a LEFT JOIN recurring.CC AS known ON known.node = Arc.b
    WHERE known.cc IS NULL OR CC.cc < known.cc
    GROUP BY Arc.b
)
FROM CC;

SELECT 'CC', count(*) FROM Labelled;
SELECT 'Label', count(DISTINCT cc) FROM Labelled;
SELECT 'Check', sum(cc % 1009) FROM Labelled;
