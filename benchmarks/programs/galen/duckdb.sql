-- The relations are recursive through each other; recursive SQL has one, so `tag` says which a row belongs to.
-- Fact is the change of the last round, recurring.Fact every row so far: a rule with n recursive atoms stands here n times.
-- A row of OutP(x, z) has 0 as its r.
CREATE TABLE P AS
FROM read_csv('P.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'z': 'INTEGER'});
CREATE TABLE Q AS
FROM read_csv('Q.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'r': 'INTEGER', 'z': 'INTEGER'});
CREATE TABLE R AS
FROM read_csv('R.facts', delim = '\t', header = false, columns = {'r': 'INTEGER', 'p': 'INTEGER', 'e': 'INTEGER'});
CREATE TABLE C AS
FROM read_csv('C.facts', delim = '\t', header = false, columns = {'y': 'INTEGER', 'w': 'INTEGER', 'z': 'INTEGER'});
CREATE TABLE U AS
FROM read_csv('U.facts', delim = '\t', header = false, columns = {'w': 'INTEGER', 'r': 'INTEGER', 'z': 'INTEGER'});
CREATE TABLE S AS
FROM read_csv('S.facts', delim = '\t', header = false, columns = {'r': 'INTEGER', 'q': 'INTEGER'});

CREATE TABLE Derived AS
WITH RECURSIVE Fact(tag, x, r, z, present) USING KEY (tag, x, r, z) AS (
    SELECT tag, x, r, z, true
    FROM (SELECT 'p'::ENUM ('p', 'q') AS tag, x, 0 AS r, z FROM P UNION SELECT 'q', x, r, z FROM Q)
    UNION (
        SELECT found.tag, found.x, found.r, found.z, true
        FROM (
            SELECT 'p'::ENUM ('p', 'q') AS tag, a.x, 0 AS r, b.z
            FROM Fact AS a JOIN recurring.Fact AS b ON a.tag = 'p' AND b.tag = 'p' AND a.z = b.x
            UNION
            SELECT 'p', a.x, 0, b.z
            FROM recurring.Fact AS a JOIN Fact AS b ON a.tag = 'p' AND b.tag = 'p' AND a.z = b.x
            UNION
            SELECT 'q', a.x, b.r, b.z
            FROM Fact AS a JOIN recurring.Fact AS b ON a.tag = 'p' AND b.tag = 'q' AND a.z = b.x
            UNION
            SELECT 'q', a.x, b.r, b.z
            FROM recurring.Fact AS a JOIN Fact AS b ON a.tag = 'p' AND b.tag = 'q' AND a.z = b.x
            UNION
            SELECT 'p', b.x, 0, U.z
            FROM Fact AS a JOIN U ON a.tag = 'p' AND a.z = U.w
            JOIN recurring.Fact AS b ON b.tag = 'q' AND b.r = U.r AND b.z = a.x
            UNION
            SELECT 'p', b.x, 0, U.z
            FROM recurring.Fact AS a JOIN U ON a.tag = 'p' AND a.z = U.w
            JOIN Fact AS b ON b.tag = 'q' AND b.r = U.r AND b.z = a.x
            UNION
            SELECT 'p', a.x, 0, C.z
            FROM Fact AS a JOIN C ON a.tag = 'p' AND a.z = C.w
            JOIN recurring.Fact AS b ON b.tag = 'p' AND b.z = C.y AND b.x = a.x
            UNION
            SELECT 'p', a.x, 0, C.z
            FROM recurring.Fact AS a JOIN C ON a.tag = 'p' AND a.z = C.w
            JOIN Fact AS b ON b.tag = 'p' AND b.z = C.y AND b.x = a.x
            UNION
            SELECT 'q', a.x, S.q, a.z FROM Fact AS a JOIN S ON a.tag = 'q' AND a.r = S.r
            UNION
            SELECT 'q', a.x, R.e, b.z
            FROM Fact AS a JOIN R ON a.tag = 'q' AND a.r = R.r
            JOIN recurring.Fact AS b ON b.tag = 'q' AND b.x = a.z AND b.r = R.p
            UNION
            SELECT 'q', a.x, R.e, b.z
            FROM recurring.Fact AS a JOIN R ON a.tag = 'q' AND a.r = R.r
            JOIN Fact AS b ON b.tag = 'q' AND b.x = a.z AND b.r = R.p
        ) AS found
        ANTI JOIN recurring.Fact AS known
        ON known.tag = found.tag AND known.x = found.x AND known.r = found.r AND known.z = found.z
    )
)
SELECT tag FROM Fact;

SELECT 'OutP', count(*) FROM Derived WHERE tag = 'p';
SELECT 'OutQ', count(*) FROM Derived WHERE tag = 'q';
