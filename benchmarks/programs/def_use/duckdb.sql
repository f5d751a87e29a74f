CREATE MACRO rows(file) AS TABLE FROM read_csv(file, delim = '\t', header = false);

CREATE TABLE Code AS SELECT * FROM rows('Code_in_block.facts') AS t(ea, block);
CREATE TABLE Edge AS SELECT * FROM rows('Block_next.facts') AS t(block, ending, next);
CREATE TABLE LastInstruction AS SELECT * FROM rows('Block_last_instruction.facts') AS t(block, ea);
CREATE TABLE Call AS SELECT * FROM rows('Direct_call.facts') AS t(ea, callee);
CREATE TABLE Access AS SELECT * FROM rows('Arch_memory_access_truncate.facts') AS t(kind, ea, direct, base, indexed, offs);
CREATE TABLE Arithmetic AS
SELECT * FROM rows('Arch_reg_reg_arithmetic_operation.facts') AS t(ea, dst, src1, src2, mult, offs);
CREATE TABLE ReturnRegister AS
SELECT * FROM read_csv('Arch_return_reg.facts', header = false, columns = {'reg': 'BIGINT'});
CREATE TABLE Used AS SELECT * FROM rows('Reg_def_use_used.facts') AS t(ea, reg, operand);
CREATE TABLE UsedInBlock AS SELECT * FROM rows('Reg_def_use_used_in_block.facts') AS t(block, ea, reg, operand);
CREATE TABLE DefinedInBlock AS SELECT * FROM rows('Reg_def_use_defined_in_block.facts') AS t(block, reg);
CREATE TABLE LastDef AS SELECT * FROM rows('Reg_def_use_block_last_def.facts') AS t(ea, def, reg);
CREATE TABLE LeavingDef AS SELECT * FROM rows('Reg_def_use_live_var_def.facts') AS t(block, name, reg, def);
CREATE TABLE FlowDef AS SELECT * FROM rows('Reg_def_use_flow_def.facts') AS t(ea, reg, next, known);
CREATE TABLE ReturnBlock AS
SELECT * FROM rows('Reg_def_use_return_block_end.facts') AS t(callee, callee_end, block, ending);
CREATE TABLE Purpose AS SELECT * FROM rows('Reg_used_for.facts') AS t(ea, reg, purpose);
CREATE TABLE StackDef AS SELECT * FROM rows('Stack_def_use_def.facts') AS t(ea, base, offs);
CREATE TABLE StackUsed AS SELECT * FROM rows('Stack_def_use_used.facts') AS t(ea, base, offs, operand);
CREATE TABLE StackDefinedInBlock AS SELECT * FROM rows('Stack_def_use_defined_in_block.facts') AS t(block, base, offs);
CREATE TABLE StackLastDef AS SELECT * FROM rows('Stack_def_use_block_last_def.facts') AS t(ea, def, base, offs);
CREATE TABLE StackLeavingDef AS
SELECT * FROM rows('Stack_def_use_live_var_def.facts') AS t(block, name_base, name_offs, base, offs, def);
CREATE TABLE StackExposed AS
SELECT * FROM rows('Stack_def_use_live_var_used.facts') AS t(block, base, offs, name_base, name_offs, ea, operand, moves);

CREATE TABLE RegDef AS SELECT def AS ea, reg FROM LastDef UNION SELECT def, reg FROM LeavingDef;
CREATE TABLE Exposed AS
SELECT DISTINCT block, reg, ea, operand FROM UsedInBlock ANTI JOIN LastDef USING (ea, reg);

-- Entries and exits of blocks are recursive through each other; recursive SQL has one relation, and `leaving` tells them apart.
CREATE TABLE Reaching AS
WITH RECURSIVE Reached(leaving, block, reg, def) AS (
    (
        SELECT true, block, reg, def FROM LeavingDef
        UNION
        SELECT false, Edge.next, reg, ea FROM FlowDef JOIN Edge ON Edge.ending = ea AND Edge.next = FlowDef.next
    )
    UNION (
        SELECT true, here.block, here.reg, def
        FROM Reached AS here ANTI JOIN DefinedInBlock AS stop ON stop.block = here.block AND stop.reg = here.reg
        WHERE NOT leaving
        UNION ALL
        SELECT false, Edge.next, here.reg, def
        FROM Reached AS here JOIN Edge ON Edge.block = here.block
        ANTI JOIN FlowDef AS stop ON stop.ea = Edge.ending AND stop.next = Edge.next AND stop.reg = here.reg
        WHERE leaving
    )
)
FROM Reached;
CREATE TABLE DefUsed AS
SELECT def, reg, ea AS use, operand FROM Used JOIN LastDef USING (ea, reg)
UNION
SELECT def, reg, ea, operand FROM Reaching JOIN Exposed USING (block, reg) WHERE NOT leaving;

CREATE TABLE Live AS
WITH RECURSIVE Reached(leaving, block, reg) AS (
    (
        SELECT false, block, reg FROM Exposed
        UNION
        SELECT true, block, reg FROM ReturnBlock CROSS JOIN ReturnRegister
    )
    UNION (
        SELECT false, here.block, here.reg
        FROM Reached AS here ANTI JOIN DefinedInBlock AS stop ON stop.block = here.block AND stop.reg = here.reg
        WHERE leaving
        UNION ALL
        SELECT true, Edge.block, here.reg
        FROM Reached AS here JOIN Edge ON Edge.next = here.block
        ANTI JOIN FlowDef AS stop ON stop.ea = Edge.ending AND stop.next = Edge.next AND stop.reg = here.reg
        WHERE NOT leaving
    )
)
FROM Reached;
CREATE TABLE NextInBlock AS
SELECT ea, next
FROM rows('May_fallthrough.facts') AS t(ea, next)
JOIN Code AS one USING (ea) JOIN Code AS other ON other.ea = next AND other.block = one.block;
CREATE TABLE LiveAt AS
WITH RECURSIVE Reached(leaving, ea, reg) AS (
    (
        SELECT true, ea, reg FROM Live JOIN LastInstruction USING (block) WHERE leaving
        UNION
        SELECT false, ea, reg FROM Used
    )
    UNION (
        SELECT false, here.ea, here.reg
        FROM Reached AS here ANTI JOIN RegDef AS stop ON stop.ea = here.ea AND stop.reg = here.reg
        WHERE leaving
        UNION ALL
        SELECT true, NextInBlock.ea, here.reg
        FROM Reached AS here JOIN NextInBlock ON NextInBlock.next = here.ea
        WHERE NOT leaving
    )
)
FROM Reached;
CREATE TABLE Pressure AS
SELECT ea, count(reg) AS registers
FROM (SELECT DISTINCT ea FROM Code) LEFT JOIN (SELECT ea, reg FROM LiveAt WHERE NOT leaving) USING (ea)
GROUP BY ea;

CREATE TABLE StackReaching AS
WITH RECURSIVE Reached(leaving, block, base, offs, def) AS (
    SELECT true, block, base, offs, def FROM StackLeavingDef
    UNION (
        SELECT true, here.block, here.base, here.offs, def
        FROM Reached AS here
        ANTI JOIN StackDefinedInBlock AS stop
        ON stop.block = here.block AND stop.base = here.base AND stop.offs = here.offs
        ANTI JOIN DefinedInBlock AS moved ON moved.block = here.block AND moved.reg = here.base
        WHERE NOT leaving
        UNION ALL
        SELECT false, Edge.next, here.base, here.offs, def
        FROM Reached AS here JOIN Edge ON Edge.block = here.block
        ANTI JOIN FlowDef AS stop ON stop.ea = Edge.ending AND stop.next = Edge.next AND stop.reg = here.base
        WHERE leaving
    )
)
FROM Reached;
CREATE TABLE StackDefUsed AS
SELECT def, base, offs, ea AS use, operand FROM StackUsed JOIN StackLastDef USING (ea, base, offs)
UNION
SELECT def, base, offs, ea, operand FROM StackReaching JOIN StackExposed USING (block, base, offs) WHERE NOT leaving;
CREATE TABLE StackLive AS
WITH RECURSIVE Reached(leaving, block, base, offs) AS (
    SELECT DISTINCT false, block, base, offs FROM StackExposed
    UNION (
        SELECT false, here.block, here.base, here.offs
        FROM Reached AS here
        ANTI JOIN StackDefinedInBlock AS stop
        ON stop.block = here.block AND stop.base = here.base AND stop.offs = here.offs
        ANTI JOIN DefinedInBlock AS moved ON moved.block = here.block AND moved.reg = here.base
        WHERE leaving
        UNION ALL
        SELECT true, Edge.block, here.base, here.offs
        FROM Reached AS here JOIN Edge ON Edge.next = here.block
        ANTI JOIN FlowDef AS stop ON stop.ea = Edge.ending AND stop.next = Edge.next AND stop.reg = here.base
        WHERE NOT leaving
    )
)
FROM Reached;

-- What is returned through several functions is found from the caller's side: one step into a callee at a time.
CREATE TABLE OwnReturn AS
SELECT DISTINCT callee, reg, def
FROM ReturnBlock CROSS JOIN ReturnRegister JOIN Reaching USING (block, reg) WHERE leaving;
CREATE TABLE Returned AS
WITH RECURSIVE Found(callee, reg, def) AS (
    FROM OwnReturn
    UNION
    SELECT Found.callee, Found.reg, own.def
    FROM Found JOIN Call ON Call.ea = Found.def
    JOIN OwnReturn AS own ON own.callee = Call.callee AND own.reg = Found.reg
)
FROM Found;

CREATE TABLE Store AS
SELECT DISTINCT ea, direct AS reg, base, offs
FROM Access WHERE kind = 333071 AND indexed = 332575 AND direct <> 332575 AND base <> 332575;
CREATE TABLE Load AS
SELECT DISTINCT ea, direct AS reg, base, offs
FROM Access WHERE kind = 332573 AND indexed = 332575 AND direct <> 332575 AND base <> 332575;
CREATE TABLE ValueStep AS
SELECT def, reg, ea, dst FROM DefUsed JOIN Arithmetic ON ea = use AND src1 = reg
UNION
SELECT def, reg, ea, dst FROM DefUsed JOIN Arithmetic ON ea = use AND src2 = reg
UNION
SELECT Returned.def, reg, Call.ea, reg FROM Call JOIN Returned USING (callee) JOIN RegDef USING (ea, reg)
UNION
SELECT DefUsed.def, DefUsed.reg, Load.ea, Load.reg
FROM DefUsed
JOIN Store ON Store.ea = DefUsed.use AND Store.reg = DefUsed.reg
JOIN StackDef ON StackDef.ea = Store.ea AND StackDef.base = Store.base AND StackDef.offs = Store.offs
JOIN StackDefUsed AS kept ON kept.def = Store.ea AND kept.base = Store.base AND kept.offs = Store.offs
JOIN Load ON Load.ea = kept.use AND Load.base = Store.base AND Load.offs = Store.offs
JOIN RegDef ON RegDef.ea = Load.ea AND RegDef.reg = Load.reg
UNION
SELECT DefUsed.def, DefUsed.reg, Load.ea, Load.reg
FROM DefUsed
JOIN Store ON Store.ea = DefUsed.use AND Store.reg = DefUsed.reg
JOIN DefUsed AS pointer ON pointer.reg = Store.base AND pointer.use = Store.ea
JOIN DefUsed AS again ON again.def = pointer.def AND again.reg = pointer.reg
JOIN Load ON Load.ea = again.use AND Load.base = Store.base AND Load.offs = Store.offs
JOIN RegDef ON RegDef.ea = Load.ea AND RegDef.reg = Load.reg
JOIN Code AS one ON one.ea = Store.ea
JOIN Code AS other ON other.ea = Load.ea AND other.block = one.block
ANTI JOIN StackDef ON StackDef.ea = Store.ea AND StackDef.base = Store.base AND StackDef.offs = Store.offs
WHERE Store.ea < Load.ea;
CREATE TABLE ValueFlow AS
WITH RECURSIVE Flow(def, reg, ea, dst) AS (
    FROM ValueStep
    UNION
    SELECT Flow.def, Flow.reg, step.ea, step.dst
    FROM Flow JOIN ValueStep AS step ON step.def = Flow.ea AND step.reg = Flow.dst
)
FROM Flow;
CREATE TABLE UsedFor AS
WITH RECURSIVE Found(def, reg, purpose) AS (
    (
        FROM rows('Def_used_for_address.facts')
        UNION
        SELECT def, DefUsed.reg, purpose FROM DefUsed JOIN Purpose ON Purpose.ea = use AND Purpose.reg = DefUsed.reg
    )
    UNION
    SELECT step.def, step.reg, purpose
    FROM Found JOIN ValueStep AS step ON step.ea = Found.def AND step.dst = Found.reg
)
FROM Found;

CREATE TABLE KnownDef AS
SELECT ea AS def, reg, known FROM FlowDef UNION SELECT ea, dst, offs FROM Arithmetic WHERE src1 = src2 AND mult = -1;
CREATE TABLE OpenUse AS SELECT DISTINCT use, reg FROM DefUsed ANTI JOIN KnownDef USING (def, reg);
CREATE TABLE KnownUse AS
SELECT DISTINCT use, reg, known FROM DefUsed JOIN KnownDef USING (def, reg) ANTI JOIN OpenUse USING (use, reg);

SELECT 'RegDef', count(*) FROM RegDef;
SELECT 'ExposedUse', count(*) FROM Exposed;
SELECT 'ReachesEntry', count(*) FROM Reaching WHERE NOT leaving;
SELECT 'ReachesExit', count(*) FROM Reaching WHERE leaving;
SELECT 'DefUsed', count(*) FROM DefUsed;
SELECT 'IncomingUse', count(*)
FROM (
    SELECT DISTINCT ea, reg
    FROM Exposed ANTI JOIN (SELECT block, reg FROM Reaching WHERE NOT leaving) AS reached USING (block, reg)
);
SELECT 'UnusedDef', count(*) FROM RegDef ANTI JOIN DefUsed ON DefUsed.def = ea AND DefUsed.reg = RegDef.reg;
SELECT 'LiveAtEntry', count(*) FROM Live WHERE NOT leaving;
SELECT 'LiveAtExit', count(*) FROM Live WHERE leaving;
SELECT 'LiveBefore', count(*) FROM LiveAt WHERE NOT leaving;
SELECT 'LiveAfter', count(*) FROM LiveAt WHERE leaving;
SELECT 'DeadDef', count(*) FROM RegDef ANTI JOIN (FROM LiveAt WHERE leaving) AS live USING (ea, reg);
SELECT 'Pressure', count(*) FROM Pressure;
SELECT 'PressureLevel', count(DISTINCT registers) FROM Pressure;
SELECT 'StackReachesEntry', count(*) FROM StackReaching WHERE NOT leaving;
SELECT 'StackReachesExit', count(*) FROM StackReaching WHERE leaving;
SELECT 'StackDefUsed', count(*) FROM StackDefUsed;
SELECT 'StackLiveAtEntry', count(*) FROM StackLive WHERE NOT leaving;
SELECT 'StackLiveAtExit', count(*) FROM StackLive WHERE leaving;
SELECT 'DeadStore', count(*)
FROM StackDef ANTI JOIN StackDefUsed AS used
ON used.def = ea AND used.base = StackDef.base AND used.offs = StackDef.offs;
SELECT 'Returns', count(*) FROM Returned;
SELECT 'ReturnUsed', count(*)
FROM (
    SELECT DISTINCT Returned.def, Returned.reg, use, operand
    FROM Call JOIN Returned USING (callee) JOIN DefUsed ON DefUsed.def = Call.ea AND DefUsed.reg = Returned.reg
);
SELECT 'ValueStep', count(*) FROM ValueStep;
SELECT 'ValueFlow', count(*) FROM ValueFlow;
SELECT 'UsedFor', count(*) FROM UsedFor;
SELECT 'KnownDef', count(*) FROM KnownDef;
SELECT 'KnownUse', count(*) FROM KnownUse;
SELECT 'NullAddress', count(*)
FROM (
    SELECT DISTINCT use, KnownUse.reg
    FROM KnownUse JOIN Purpose ON Purpose.ea = use AND Purpose.reg = KnownUse.reg
    WHERE known = 0 AND purpose = 371930
);
