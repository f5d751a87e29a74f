-- Tc is the change of the last round, recurring.Tc every row so far. A key of all columns makes it a set;
-- USING KEY wants a column beside the key, hence `present`.
CREATE TABLE Arc AS
FROM read_csv('Arc.facts', delim = '\t', header = false, columns = {'x': 'INTEGER', 'y': 'INTEGER'});

WITH RECURSIVE Tc(x, y, present) USING KEY (x, y) AS (
    SELECT x, y, true FROM Arc
    UNION (
        SELECT found.x, found.y, true
        FROM (
            SELECT change.x, whole.y FROM Tc AS change JOIN recurring.Tc AS whole ON change.y = whole.x
            UNION
            SELECT whole.x, change.y FROM recurring.Tc AS whole JOIN Tc AS change ON whole.y = change.x
        ) AS found
        ANTI JOIN recurring.Tc AS known ON known.x = found.x AND known.y = found.y
    )
)
SELECT 'Tc', count(*) FROM Tc;
