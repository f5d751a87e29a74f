-- Terms are numbered first: the fixpoint then joins integers. T is the change of the last round, recurring.T every row
-- so far: each rule has two recursive atoms and stands here once for each of them being the changed one.
CREATE TABLE Triple AS
FROM read_csv('T.facts', delim = '\t', header = false, quote = '', escape = '',
    columns = {'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR'});

CREATE TABLE Term AS
SELECT (row_number() OVER ())::INTEGER AS id, term
FROM (
    SELECT s AS term FROM Triple UNION SELECT p FROM Triple UNION SELECT o FROM Triple
    UNION VALUES ('rdf:type'), ('rdfs:domain'), ('rdfs:range'), ('rdfs:subPropertyOf'), ('rdfs:subClassOf')
);
SET VARIABLE type = (SELECT id FROM Term WHERE term = 'rdf:type');
SET VARIABLE domain = (SELECT id FROM Term WHERE term = 'rdfs:domain');
SET VARIABLE range = (SELECT id FROM Term WHERE term = 'rdfs:range');
SET VARIABLE sub_property = (SELECT id FROM Term WHERE term = 'rdfs:subPropertyOf');
SET VARIABLE sub_class = (SELECT id FROM Term WHERE term = 'rdfs:subClassOf');

CREATE TABLE Given AS
SELECT DISTINCT subject.id AS s, predicate.id AS p, object.id AS o
FROM Triple
JOIN Term AS subject ON subject.term = Triple.s
JOIN Term AS predicate ON predicate.term = Triple.p
JOIN Term AS object ON object.term = Triple.o;

WITH RECURSIVE T(s, p, o, present) USING KEY (s, p, o) AS (
    SELECT s, p, o, true FROM Given
    UNION (
        SELECT found.s, found.p, found.o, true
        FROM (
            SELECT t.s, getvariable('type') AS p, rule.o FROM T AS rule JOIN recurring.T AS t ON rule.p = getvariable('domain') AND t.p = rule.s
            UNION
            SELECT t.s, getvariable('type') AS p, rule.o FROM recurring.T AS rule JOIN T AS t ON rule.p = getvariable('domain') AND t.p = rule.s
            UNION
            SELECT t.o, getvariable('type'), rule.o FROM T AS rule JOIN recurring.T AS t ON rule.p = getvariable('range') AND t.p = rule.s
            UNION
            SELECT t.o, getvariable('type'), rule.o FROM recurring.T AS rule JOIN T AS t ON rule.p = getvariable('range') AND t.p = rule.s
            UNION
            SELECT rule.s, rule.p, t.o FROM T AS rule JOIN recurring.T AS t ON rule.p = getvariable('sub_property') AND t.p = rule.p AND t.s = rule.o
            UNION
            SELECT rule.s, rule.p, t.o FROM recurring.T AS rule JOIN T AS t ON rule.p = getvariable('sub_property') AND t.p = rule.p AND t.s = rule.o
            UNION
            SELECT rule.s, rule.p, t.o FROM T AS rule JOIN recurring.T AS t ON rule.p = getvariable('sub_class') AND t.p = rule.p AND t.s = rule.o
            UNION
            SELECT rule.s, rule.p, t.o FROM recurring.T AS rule JOIN T AS t ON rule.p = getvariable('sub_class') AND t.p = rule.p AND t.s = rule.o
            UNION
            SELECT t.s, t.p, rule.o FROM T AS rule JOIN recurring.T AS t ON rule.p = getvariable('sub_class') AND t.p = getvariable('type') AND t.o = rule.s
            UNION
            SELECT t.s, t.p, rule.o FROM recurring.T AS rule JOIN T AS t ON rule.p = getvariable('sub_class') AND t.p = getvariable('type') AND t.o = rule.s
            UNION
            SELECT t.s, rule.o, t.o FROM T AS rule JOIN recurring.T AS t ON rule.p = getvariable('sub_property') AND t.p = rule.s
            UNION
            SELECT t.s, rule.o, t.o FROM recurring.T AS rule JOIN T AS t ON rule.p = getvariable('sub_property') AND t.p = rule.s
        ) AS found
        ANTI JOIN recurring.T AS known ON known.s = found.s AND known.p = found.p AND known.o = found.o
    )
)
SELECT 'T', count(*) FROM T;
