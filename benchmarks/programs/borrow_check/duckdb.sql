-- One file is empty, and an empty file has no format to detect.
CREATE MACRO pairs(file) AS TABLE
FROM read_csv(file, auto_detect = false, delim = '\t', header = false, columns = {'a': 'INTEGER', 'b': 'INTEGER'});
CREATE MACRO triples(file) AS TABLE
FROM read_csv(file, delim = '\t', header = false, columns = {'a': 'INTEGER', 'b': 'INTEGER', 'c': 'INTEGER'});

CREATE TABLE Edge AS SELECT a AS source, b AS target FROM pairs('cfg_edge.facts');
CREATE TABLE Point AS SELECT source AS point FROM Edge UNION SELECT target FROM Edge;

-- Every path with itself and all that stands below it.
CREATE TABLE Part AS
WITH RECURSIVE Below(path, part) AS (
    SELECT b, a FROM pairs('child_path.facts')
    UNION
    SELECT Below.path, child.a FROM Below JOIN pairs('child_path.facts') AS child ON child.b = Below.part
)
FROM Below
UNION SELECT a, a FROM pairs('path_is_var.facts')
UNION SELECT a, a FROM pairs('path_assigned_at_base.facts')
UNION SELECT a, a FROM pairs('path_moved_at_base.facts')
UNION SELECT a, a FROM pairs('path_accessed_at_base.facts');
CREATE TABLE Assigned AS
SELECT DISTINCT part AS path, b AS point FROM pairs('path_assigned_at_base.facts') JOIN Part ON path = a;
CREATE TABLE Moved AS
SELECT DISTINCT part AS path, b AS point FROM pairs('path_moved_at_base.facts') JOIN Part ON path = a;
CREATE TABLE Accessed AS
SELECT DISTINCT part AS path, b AS point FROM pairs('path_accessed_at_base.facts') JOIN Part ON path = a;
CREATE TABLE VariablePath AS
SELECT DISTINCT part AS path, b AS variable FROM pairs('path_is_var.facts') JOIN Part ON path = a;

CREATE TABLE Initialized AS
WITH RECURSIVE Reached(path, point) AS (
    FROM Assigned
    UNION
    SELECT Reached.path, Edge.target
    FROM Reached JOIN Edge ON Edge.source = Reached.point
    ANTI JOIN Moved ON Moved.path = Reached.path AND Moved.point = Edge.target
)
FROM Reached;
CREATE TABLE Uninitialized AS
WITH RECURSIVE Reached(path, point) AS (
    FROM Moved
    UNION
    SELECT Reached.path, Edge.target
    FROM Reached JOIN Edge ON Edge.source = Reached.point
    ANTI JOIN Assigned ON Assigned.path = Reached.path AND Assigned.point = Edge.target
)
FROM Reached;
CREATE TABLE VariableInitialized AS SELECT DISTINCT variable, point FROM Initialized JOIN VariablePath USING (path);
CREATE TABLE MoveError AS
SELECT DISTINCT Uninitialized.path, Edge.target
FROM Uninitialized JOIN Edge ON Edge.source = point
JOIN Accessed ON Accessed.path = Uninitialized.path AND Accessed.point = Edge.target;

CREATE TABLE Defined AS SELECT a AS variable, b AS point FROM pairs('var_defined_at.facts');
CREATE TABLE Live AS
WITH RECURSIVE Reached(variable, point) AS (
    FROM pairs('var_used_at.facts')
    UNION
    SELECT Reached.variable, Edge.source
    FROM Reached JOIN Edge ON Edge.target = Reached.point
    ANTI JOIN Defined ON Defined.variable = Reached.variable AND Defined.point = Edge.source
)
FROM Reached;
CREATE TABLE DropLive AS
WITH RECURSIVE Reached(variable, point) AS (
    SELECT dropped.a, dropped.b
    FROM pairs('var_dropped_at.facts') AS dropped JOIN Edge ON Edge.target = dropped.b
    SEMI JOIN VariableInitialized AS known ON known.variable = dropped.a AND known.point = Edge.source
    UNION
    SELECT Reached.variable, Edge.source
    FROM Reached JOIN Edge ON Edge.target = Reached.point
    SEMI JOIN VariableInitialized AS known ON known.variable = Reached.variable AND known.point = Edge.source
    ANTI JOIN Defined ON Defined.variable = Reached.variable AND Defined.point = Edge.source
)
FROM Reached;
CREATE TABLE OriginLive AS
SELECT derefs.b AS origin, point FROM Live JOIN pairs('use_of_var_derefs_origin.facts') AS derefs ON derefs.a = variable
UNION
SELECT derefs.b, point FROM DropLive JOIN pairs('drop_of_var_derefs_origin.facts') AS derefs ON derefs.a = variable
UNION
SELECT origin, point
FROM read_csv('universal_region.facts', header = false, columns = {'origin': 'INTEGER'}) CROSS JOIN Point;

-- Subset is the change of the last round, recurring.Subset every row so far.
CREATE TABLE SubsetBase AS SELECT a AS sub, b AS super, c AS point FROM triples('subset_base.facts');
CREATE TABLE Subsets AS
WITH RECURSIVE Subset(sub, super, point, present) USING KEY (sub, super, point) AS (
    SELECT DISTINCT sub, super, point, true FROM SubsetBase
    UNION (
        SELECT found.sub, found.super, found.point, true
        FROM (
            SELECT change.sub, whole.super, change.point
            FROM Subset AS change JOIN recurring.Subset AS whole
            ON change.super = whole.sub AND change.point = whole.point
            UNION
            SELECT whole.sub, change.super, change.point
            FROM recurring.Subset AS whole JOIN Subset AS change
            ON whole.super = change.sub AND whole.point = change.point
            UNION
            SELECT change.sub, change.super, Edge.target
            FROM Subset AS change JOIN Edge ON Edge.source = change.point
            SEMI JOIN OriginLive AS one ON one.origin = change.sub AND one.point = Edge.target
            SEMI JOIN OriginLive AS other ON other.origin = change.super AND other.point = Edge.target
        ) AS found
        ANTI JOIN recurring.Subset AS known
        ON known.sub = found.sub AND known.super = found.super AND known.point = found.point
    )
)
SELECT sub, super, point FROM Subset;

CREATE TABLE Issued AS SELECT a AS origin, b AS loan, c AS point FROM triples('loan_issued_at.facts');
CREATE TABLE Killed AS SELECT a AS loan, b AS point FROM pairs('loan_killed_at.facts');
CREATE TABLE Invalidated AS SELECT a AS point, b AS loan FROM pairs('loan_invalidated_at.facts');
CREATE TABLE Contains AS
WITH RECURSIVE Held(origin, loan, point) AS (
    FROM Issued
    UNION (
        SELECT Subsets.super, Held.loan, Held.point
        FROM Held JOIN Subsets ON Subsets.sub = Held.origin AND Subsets.point = Held.point
        UNION
        SELECT Held.origin, Held.loan, Edge.target
        FROM Held JOIN Edge ON Edge.source = Held.point
        SEMI JOIN OriginLive AS live ON live.origin = Held.origin AND live.point = Edge.target
        ANTI JOIN Killed ON Killed.loan = Held.loan AND Killed.point = Held.point
    )
)
FROM Held;
CREATE TABLE LoanLive AS SELECT DISTINCT loan, point FROM Contains JOIN OriginLive USING (origin, point);
CREATE TABLE Errors AS SELECT DISTINCT loan, point FROM Invalidated JOIN LoanLive USING (loan, point);

CREATE TABLE Placeholder AS SELECT a AS origin, b AS loan FROM pairs('placeholder.facts');
CREATE TABLE Promised AS
WITH RECURSIVE Flow(sub, super) AS (
    FROM pairs('known_placeholder_subset.facts')
    UNION
    SELECT Flow.sub, b FROM Flow JOIN pairs('known_placeholder_subset.facts') ON a = Flow.super
)
FROM Flow;
CREATE TABLE SubsetError AS
SELECT Subsets.sub, Subsets.super, point
FROM Subsets SEMI JOIN Placeholder AS one ON one.origin = sub SEMI JOIN Placeholder AS other ON other.origin = super
ANTI JOIN Promised ON Promised.sub = Subsets.sub AND Promised.super = Subsets.super
WHERE Subsets.sub <> Subsets.super;

CREATE TABLE ContainsAnywhere AS
WITH RECURSIVE Held(origin, loan) AS (
    (SELECT origin, loan FROM Issued UNION FROM Placeholder)
    UNION
    SELECT flow.super, Held.loan
    FROM Held JOIN (SELECT DISTINCT sub, super FROM SubsetBase) AS flow ON flow.sub = Held.origin
)
FROM Held;
CREATE TABLE PotentialError AS
SELECT DISTINCT loan, point FROM Invalidated JOIN ContainsAnywhere USING (loan) JOIN OriginLive USING (origin, point);
CREATE TABLE PotentialSubsetError AS
SELECT DISTINCT one.origin AS sub, other.origin AS super
FROM Placeholder AS one
JOIN ContainsAnywhere AS held ON held.loan = one.loan
JOIN Placeholder AS other ON other.origin = held.origin
ANTI JOIN Promised ON Promised.sub = one.origin AND Promised.super = other.origin
WHERE one.origin <> other.origin;

SELECT 'path_maybe_initialized_on_exit', count(*) FROM Initialized;
SELECT 'path_maybe_uninitialized_on_exit', count(*) FROM Uninitialized;
SELECT 'var_maybe_partly_initialized_on_exit', count(*) FROM VariableInitialized;
SELECT 'move_error', count(*) FROM MoveError;
SELECT 'var_live_on_entry', count(*) FROM Live;
SELECT 'var_drop_live_on_entry', count(*) FROM DropLive;
SELECT 'origin_live_on_entry', count(*) FROM OriginLive;
SELECT 'subset', count(*) FROM Subsets;
SELECT 'origin_contains_loan_on_entry', count(*) FROM Contains;
SELECT 'loan_live_at', count(*) FROM LoanLive;
SELECT 'errors', count(*) FROM Errors;
SELECT 'subset_error', count(*) FROM SubsetError;
SELECT 'origin_contains_loan', count(*) FROM ContainsAnywhere;
SELECT 'potential_error', count(*) FROM PotentialError;
SELECT 'potential_subset_error', count(*) FROM PotentialSubsetError;
SELECT 'spared', count(*) FROM PotentialError ANTI JOIN Errors USING (loan, point);
