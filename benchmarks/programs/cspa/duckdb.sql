-- The relations are recursive through each other; recursive SQL has one, so `tag` says which a row belongs to.
-- Fact is the change of the last round, recurring.Fact every row so far: a rule with n recursive atoms stands here n times.
CREATE TABLE Assign AS
FROM read_csv('Assign.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER'});
CREATE TABLE Dereference AS
FROM read_csv('Dereference.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER'});

CREATE TABLE Derived AS
WITH RECURSIVE Fact(tag, x, y, present) USING KEY (tag, x, y) AS (
    SELECT tag, x, y, true
    FROM (
        SELECT 'flow'::ENUM ('flow', 'memory', 'value') AS tag, x, y FROM Assign
        UNION SELECT 'flow', x, x FROM Assign
        UNION SELECT 'flow', y, y FROM Assign
        UNION SELECT 'memory', x, x FROM Assign
        UNION SELECT 'memory', y, y FROM Assign
    )
    UNION (
        SELECT found.tag, found.x, found.y, true
        FROM (
            SELECT 'flow'::ENUM ('flow', 'memory', 'value') AS tag, Assign.x, m.y
            FROM Assign JOIN Fact AS m ON m.tag = 'memory' AND Assign.y = m.x
            UNION
            SELECT 'flow', a.x, b.y
            FROM Fact AS a JOIN recurring.Fact AS b ON a.tag = 'flow' AND b.tag = 'flow' AND a.y = b.x
            UNION
            SELECT 'flow', a.x, b.y
            FROM recurring.Fact AS a JOIN Fact AS b ON a.tag = 'flow' AND b.tag = 'flow' AND a.y = b.x
            UNION
            SELECT 'memory', one.y, other.y
            FROM Fact AS v JOIN Dereference AS one ON v.tag = 'value' AND one.x = v.x JOIN Dereference AS other ON other.x = v.y
            UNION
            SELECT 'value', a.y, b.y
            FROM Fact AS a JOIN recurring.Fact AS b ON a.tag = 'flow' AND b.tag = 'flow' AND a.x = b.x
            UNION
            SELECT 'value', a.y, b.y
            FROM recurring.Fact AS a JOIN Fact AS b ON a.tag = 'flow' AND b.tag = 'flow' AND a.x = b.x
            UNION
            SELECT 'value', a.y, b.y
            FROM Fact AS a
            JOIN recurring.Fact AS m ON a.tag = 'flow' AND m.tag = 'memory' AND a.x = m.x
            JOIN recurring.Fact AS b ON b.tag = 'flow' AND m.y = b.x
            UNION
            SELECT 'value', a.y, b.y
            FROM recurring.Fact AS a
            JOIN Fact AS m ON a.tag = 'flow' AND m.tag = 'memory' AND a.x = m.x
            JOIN recurring.Fact AS b ON b.tag = 'flow' AND m.y = b.x
            UNION
            SELECT 'value', a.y, b.y
            FROM recurring.Fact AS a
            JOIN recurring.Fact AS m ON a.tag = 'flow' AND m.tag = 'memory' AND a.x = m.x
            JOIN Fact AS b ON b.tag = 'flow' AND m.y = b.x
        ) AS found
        ANTI JOIN recurring.Fact AS known ON known.tag = found.tag AND known.x = found.x AND known.y = found.y
    )
)
SELECT tag FROM Fact;

SELECT 'ValueFlow', count(*) FROM Derived WHERE tag = 'flow';
SELECT 'MemoryAlias', count(*) FROM Derived WHERE tag = 'memory';
SELECT 'ValueAlias', count(*) FROM Derived WHERE tag = 'value';
