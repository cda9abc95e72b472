/// Every figure that is promised, in the order of the groups.
enum Targets {
    private static let sqlite: [ContestantName] = [.sqlite, .sqliteDefault]
    private static let sqliteIndexed: [ContestantName] = [.sqliteIndexed, .sqliteDefaultIndexed]

    static let all = fill + reads + queries + members + batches + opens + deletes + storm + objects

    private static let fill = [
        Target(group: .fillbatch, text: "objects against SQLite", bound: .atLeast(1), unit: "x") {
            $0.ratio(.fillbatch, "rows_per_s", .objects, over: sqlite)
        },
        Target(group: .fillbatch, text: "engine without postings against SQLite", bound: .atLeast(1.7), unit: "x") {
            $0.ratio(.fillbatch, "rows_per_s", .enginePlain, over: sqlite)
        },
        Target(
            group: .fillbatch, text: "engine with postings against SQLite with two indexes", bound: .atLeast(5),
            unit: "x"
        ) { $0.ratio(.fillbatch, "rows_per_s", .engine, over: sqliteIndexed) },
        Target(group: .fillbatch, text: "engine's store against SQLite's file", bound: .atMost(0.6), unit: "x") {
            size(.engine, $0)
        },
        Target(group: .fillbatch, text: "objects' store against SQLite's file", bound: .atMost(0.6), unit: "x") {
            size(.objects, $0)
        },
        Target(group: .fillsync, text: "engine against raw append+fdatasync", bound: .atLeast(0.95), unit: "x") {
            $0.ratio(.fillsync, "commits_per_s", .engine, over: [.raw])
        },
        Target(group: .fillsync, text: "engine against SQLite", bound: .atLeast(1), unit: "x") {
            $0.ratio(.fillsync, "commits_per_s", .engine, over: sqlite)
        },
        Target(group: .fillsync, text: "32 writers against one", bound: .atLeast(3), unit: "x") {
            $0.ratio(.fillsync, "commits_per_s", .engine32, over: [.engine])
        },
    ]

    private static let storm = [
        Target(group: .storm, text: "engine against SQLite", bound: .atLeast(5), unit: "x") {
            $0.ratio(.storm, "uniform_updates_per_s", .engineForgetful, over: sqlite)
        },
        Target(group: .storm, text: "write amplification, even", bound: .atMost(2.5), unit: "x") {
            $0.value(.storm, .engineForgetful, "uniform_write_amp")
        },
        Target(group: .storm, text: "write amplification, 90/10", bound: .atMost(1.6), unit: "x") {
            $0.value(.storm, .engineForgetful, "skewed_write_amp")
        },
        Target(group: .storm, text: "largest space over live data", bound: .atMost(1.6), unit: "x") {
            $0.value(.storm, .engineForgetful, "uniform_largest_over_live")
        },
        Target(group: .storm, text: "99th percentile of a save over the median", bound: .atMost(3), unit: "x") {
            $0.value(.storm, .engineForgetful, "uniform_p99_over_p50")
        },
    ]

    private static let deletes = [
        Target(group: .deletes, text: "store of a tenth of the rows, of what it was", bound: .atMost(0.2), unit: "x") {
            $0.value(.deletes, .objects, "left_bytes")
        }
    ]

    private static let reads = [
        Target(group: .readrandom, text: "engine, two fields, warm", bound: .atMost(500), unit: " ns") {
            $0.value(.readrandom, .engine, "two_fields_ns")
        },
        Target(
            group: .readrandom, text: "fault fired, two fields, against SQLite's all columns", bound: .atLeast(5),
            unit: "x"
        ) { $0.speedup(.readrandom, "fault_two_fields_ns", .objects, over: sqlite, of: "all_fields_ns") },
        Target(
            group: .readrandom, text: "fault fired, all fields, against SQLite's all columns", bound: .atLeast(2),
            unit: "x"
        ) { $0.speedup(.readrandom, "fault_all_fields_ns", .objects, over: sqlite, of: "all_fields_ns") },
        Target(group: .readcold, text: "engine, first of a block", bound: .atMost(10), unit: " us") {
            $0.value(.readcold, .engine, "first_of_block_us")
        },
        Target(group: .readcold, text: "engine, its neighbours", bound: .atMost(300), unit: " ns") {
            $0.value(.readcold, .engine, "neighbour_ns")
        },
        Target(group: .memory, text: "index memory", bound: .atMost(10), unit: " bytes an object") {
            $0.value(.memory, .engine, "touched_bytes_per_object")
        },
        Target(group: .memory, text: "resident before it is touched", bound: .atMost(1), unit: " bytes an object") {
            $0.value(.memory, .engine, "opened_bytes_per_object")
        },
    ]

    private static let queries = [
        query("two numbers, counted", "numbers", 15),
        query("a number and CONTAINS, counted", "predicate", 3),
        query("CONTAINS[cd] against an equivalent function", "folded", 10),
        query("sum and average by department", "group_sum", 20),
        query("first 50 by an unindexed string", "sorted", 3),
        Target(group: .index, text: "ordered page to IDs, against SQLite", bound: .atLeast(2), unit: "x") {
            $0.ratio(.index, "page_ids_per_s", .objects, over: sqliteIndexed)
        },
        Target(
            group: .index, text: "ordered page to objects, all fields read, against SQLite", bound: .atLeast(1.2),
            unit: "x"
        ) { $0.ratio(.index, "page_objects_per_s", .objects, over: sqliteIndexed) },
        Target(group: .index, text: "the same against GRDB's records", bound: .atLeast(4), unit: "x") {
            $0.ratio(.index, "page_objects_per_s", .objects, over: [.grdb])
        },
        Target(group: .index, text: "names of departments' persons, against SQLite", bound: .atLeast(3), unit: "x") {
            $0.ratio(.index, "to_many_names_per_s_warm", .objects, over: sqliteIndexed)
        },
    ]

    private static let members = [
        members("rows by a member's name", "any_name"), members("rows by a member", "any_object"),
        members("rows by many members", "any_range"), members("rows without a member", "none"),
        members("rows by all members", "all"), members("rows by the number of members", "count"),
        members("rows by the number of some members", "subquery"), members("rows by a sum over members", "sum"),
        members("departments by a member", "departments"), members("departments by members' members", "hops"),
    ]

    private static func members(_ text: String, _ name: String) -> Target {
        Target(group: .tomany, text: "\(text), against SQLite", bound: .atLeast(1), unit: "x") {
            $0.speedup(.tomany, "\(name)_ms", .objects, over: [.sqliteIndexed])
        }
    }

    private static let batches = [
        batch("batch insert, two indexes", "insert_rows_per_s", 8),
        batch("batch update of one column by predicate", "update_rows_per_s", 3),
        batch("batch delete of half the rows", "delete_rows_per_s", 10),
    ]

    /// A query over all rows, the second time.
    private static func query(_ text: String, _ name: String, _ limit: Double) -> Target {
        Target(group: .scan, text: "\(text), against SQLite", bound: .atLeast(limit), unit: "x") {
            $0.ratio(.scan, "\(name)_warm_rows_per_s", .objects, over: sqlite)
        }
    }

    private static func batch(_ text: String, _ metric: String, _ limit: Double) -> Target {
        Target(group: .batch, text: "\(text), against SQLite", bound: .atLeast(limit), unit: "x") {
            $0.ratio(.batch, metric, .objects, over: sqliteIndexed)
        }
    }

    private static let opens = [
        Target(group: .open, text: "engine, closed cleanly", bound: .atMost(3), unit: " ms at 1,000,000 rows") {
            $0.value(.open, .engine, "open_first_read_ms")
        },
        Target(group: .openkilled, text: "engine, killed", bound: .atMost(150), unit: " ms at 1,000,000 rows") {
            $0.value(.openkilled, .engine, "open_first_read_ms")
        },
    ]

    private static let objects = [
        Target(group: .objects, text: "creating an object, eight attributes set", bound: .atMost(1_000), unit: " ns") {
            $0.value(.objects, .objects, "create_ns")
        },
        Target(group: .objects, text: "reading an Int16", bound: .atMost(10), unit: " ns") {
            $0.value(.objects, .objects, "read_int16_ns")
        },
        Target(group: .objects, text: "reading a short String", bound: .atMost(30), unit: " ns") {
            $0.value(.objects, .objects, "read_short_string_ns")
        },
        Target(group: .objects, text: "setting an Int16", bound: .atMost(60), unit: " ns") {
            $0.value(.objects, .objects, "set_int16_ns")
        },
        Target(group: .objects, text: "setting a String", bound: .atMost(60), unit: " ns") {
            $0.value(.objects, .objects, "set_string_ns")
        },
        Target(group: .objects, text: "saving 100,000 objects, no flush", bound: .atLeast(700_000), unit: "/s") {
            $0.value(.objects, .objects, "save_objects_per_s")
        },
        Target(group: .objects, text: "cascaded delete, 1,000 x 1,000", bound: .atLeast(1_000_000), unit: "/s") {
            $0.value(.objects, .objects, "cascade_objects_per_s")
        },
        Target(group: .objects, text: "memory of a realized object", bound: .atMost(300), unit: " bytes") {
            $0.value(.objects, .objects, "bytes_per_object")
        },
    ]

    private static func size(_ ours: ContestantName, _ results: Results) -> Double? {
        let sizes = sqlite.compactMap { results.value(.fillbatch, $0, "disk_bytes") }
        guard let our = results.value(.fillbatch, ours, "disk_bytes"), let best = sizes.min() else { return nil }
        return our / best
    }
}
