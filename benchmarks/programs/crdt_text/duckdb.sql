CREATE TABLE Inserted AS
FROM read_csv('Insert_input.facts', delim = '\t', header = false,
    columns = {'c': 'INTEGER', 'n': 'INTEGER', 'pc': 'INTEGER', 'pn': 'INTEGER'});
CREATE TABLE Removed AS
FROM read_csv('Remove_input.facts', delim = '\t', header = false, columns = {'c': 'INTEGER', 'n': 'INTEGER'});

-- Windows find the next of several siblings without comparing all pairs.
CREATE TABLE Child AS
SELECT c, n, pc, pn, row_number() OVER siblings AS place, lead(c) OVER siblings AS next_c, lead(n) OVER siblings AS next_n
FROM Inserted
WINDOW siblings AS (PARTITION BY pc, pn ORDER BY c DESC, n DESC);

CREATE TABLE NextAfterSubtree AS
WITH RECURSIVE Following(c1, n1, c2, n2) AS (
    SELECT c, n, next_c, next_n FROM Child WHERE next_c IS NOT NULL
    UNION ALL
    SELECT Child.c, Child.n, c2, n2
    FROM Following JOIN Child ON Child.pc = c1 AND Child.pn = n1 AND Child.next_c IS NULL
)
FROM Following;

CREATE TABLE NextElement AS
SELECT pc AS c1, pn AS n1, c AS c2, n AS n2 FROM Child WHERE place = 1
UNION ALL
SELECT c1, n1, c2, n2 FROM NextAfterSubtree ANTI JOIN Inserted ON pc = c1 AND pn = n1;

CREATE TABLE Visible AS SELECT c, n FROM Inserted ANTI JOIN Removed USING (c, n);
CREATE TABLE Skipped AS SELECT c1, n1, c2, n2 FROM NextElement ANTI JOIN Visible ON c = c2 AND n = n2;

CREATE TABLE SkipRemoved AS
WITH RECURSIVE Seen(c1, n1, c2, n2) AS (
    SELECT c1, n1, c2, n2 FROM NextElement SEMI JOIN Visible ON c = c2 AND n = n2
    UNION ALL
    SELECT Skipped.c1, Skipped.n1, Seen.c2, Seen.n2
    FROM Seen JOIN Skipped ON Skipped.c2 = Seen.c1 AND Skipped.n2 = Seen.n1
)
FROM Seen;

CREATE TABLE NextVisible AS
SELECT c1, n1, c2, n2 FROM SkipRemoved SEMI JOIN Visible ON c = c1 AND n = n1
UNION ALL
SELECT c1, n1, c2, n2 FROM SkipRemoved WHERE c1 = 0 AND n1 = 0;

SELECT 'EarlierSibling', sum(place - 1) FROM Child;
SELECT 'FirstChild', count(*) FROM Child WHERE place = 1;
SELECT 'NextSibling', count(*) FROM Child WHERE next_c IS NOT NULL;
SELECT 'NextAfterSubtree', count(*) FROM NextAfterSubtree;
SELECT 'NextElement', count(*) FROM NextElement;
SELECT 'Visible', count(*) FROM Visible;
SELECT 'SkipRemoved', count(*) FROM SkipRemoved;
SELECT 'NextVisible', count(*) FROM NextVisible;
SELECT 'Check', sum((c1 * 31 + n1 * 17 + c2 * 7 + n2) % 1009) FROM NextVisible;
