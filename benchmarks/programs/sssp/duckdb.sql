CREATE TABLE WArc AS
FROM read_csv('WArc.facts', delim = '\t', header = false, columns = {'src': 'INTEGER', 'dest': 'INTEGER', 'weight': 'INTEGER'});
CREATE TABLE Id AS
FROM read_csv('Id.facts', delim = '\t', header = false, columns = {'src': 'INTEGER'});

-- Sssp is what the last round changed, recurring.Sssp the shortest distance of every node so far.
CREATE TABLE Nearest AS
WITH RECURSIVE Sssp(x, d) USING KEY (x) AS (
    SELECT DISTINCT src, 0 FROM Id
    UNION (
        SELECT found.x, found.d
        FROM (
            SELECT WArc.dest AS x, min(Sssp.d + WArc.weight) AS d
            FROM Sssp JOIN WArc ON Sssp.x = WArc.src
            GROUP BY WArc.dest
        ) AS found
        ANTI JOIN recurring.Sssp AS known ON known.x = found.x AND known.d <= found.d
    )
)
FROM Sssp;

SELECT 'Sssp', count(*) FROM Nearest;
SELECT 'Check', sum(d % 1009) FROM Nearest;
