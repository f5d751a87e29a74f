-- PointsTo is the change of the last round, recurring.PointsTo every row so far: a rule with two recursive atoms
-- stands here once for each of them being the changed one.
CREATE TABLE AddressOf AS
FROM read_csv('addressOf.facts', delim = '\t', header = false, columns = {'y': 'INTEGER', 'x': 'INTEGER'});
CREATE TABLE Assign AS
FROM read_csv('assign.facts', delim = '\t', header = false, columns = {'y': 'INTEGER', 'x': 'INTEGER'});
CREATE TABLE Load AS
FROM read_csv('load.facts', delim = '\t', header = false, columns = {'y': 'INTEGER', 'x': 'INTEGER'});
CREATE TABLE Store AS
FROM read_csv('store.facts', delim = '\t', header = false, columns = {'y': 'INTEGER', 'x': 'INTEGER'});

WITH RECURSIVE PointsTo(y, x, present) USING KEY (y, x) AS (
    SELECT y, x, true FROM AddressOf
    UNION (
        SELECT found.y, found.x, true
        FROM (
            SELECT Assign.y, change.x FROM Assign JOIN PointsTo AS change ON Assign.x = change.y
            UNION
            SELECT Load.y, whole.x
            FROM Load JOIN PointsTo AS change ON Load.x = change.y JOIN recurring.PointsTo AS whole ON change.x = whole.y
            UNION
            SELECT Load.y, change.x
            FROM Load JOIN recurring.PointsTo AS whole ON Load.x = whole.y JOIN PointsTo AS change ON whole.x = change.y
            UNION
            SELECT change.x, whole.x
            FROM Store JOIN PointsTo AS change ON Store.y = change.y JOIN recurring.PointsTo AS whole ON Store.x = whole.y
            UNION
            SELECT whole.x, change.x
            FROM Store JOIN recurring.PointsTo AS whole ON Store.y = whole.y JOIN PointsTo AS change ON Store.x = change.y
        ) AS found
        ANTI JOIN recurring.PointsTo AS known ON known.y = found.y AND known.x = found.x
    )
)
SELECT 'PointsTo', count(*) FROM PointsTo;
