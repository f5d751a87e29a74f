-- Dyck is the change of the last round, recurring.Dyck every row so far: a rule with two recursive atoms
-- stands here once for each of them being the changed one.
CREATE TABLE Arc AS
FROM read_csv('Arc.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER', 'l': 'INTEGER'});

WITH RECURSIVE Dyck(x, y, present) USING KEY (x, y) AS (
    SELECT DISTINCT opening.x, closing.y, true
    FROM Arc AS opening JOIN Arc AS closing ON opening.y = closing.x AND opening.l = closing.l
    WHERE opening.l IN (0, 1)
    UNION (
        SELECT found.x, found.y, true
        FROM (
            SELECT opening.x, closing.y
            FROM Arc AS opening JOIN Dyck ON opening.y = Dyck.x
            JOIN Arc AS closing ON Dyck.y = closing.x AND opening.l = closing.l
            WHERE opening.l IN (0, 1)
            UNION
            SELECT change.x, whole.y FROM Dyck AS change JOIN recurring.Dyck AS whole ON change.y = whole.x
            UNION
            SELECT whole.x, change.y FROM recurring.Dyck AS whole JOIN Dyck AS change ON whole.y = change.x
        ) AS found
        ANTI JOIN recurring.Dyck AS known ON known.x = found.x AND known.y = found.y
    )
)
SELECT 'Dyck', count(*) FROM Dyck;
SELECT 'Zero', count(*) FROM (SELECT DISTINCT x, y FROM Arc WHERE l = 0);
SELECT 'One', count(*) FROM (SELECT DISTINCT x, y FROM Arc WHERE l = 1);
