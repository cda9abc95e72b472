import BenchSupport
import CBenchSupport
import CSQLite

extension SQLitePeople {
    /// `contains_cd(text, pattern)`: whether the text contains the pattern, which has neither case nor marks, if those
    /// of the text do not count. What `CONTAINS[cd]` asks; LIKE knows no marks.
    func addFunctions() throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        let result = sqlite3_create_function_v2(
            database.handle, "contains_cd", 2, flags, nil,
            { context, _, values in
                guard let values, let text = sqlite3_value_text(values[0]), let pattern = sqlite3_value_text(values[1])
                else { return sqlite3_result_null(context) }
                let isFound = bench_contains_folded(
                    text, Int(sqlite3_value_bytes(values[0])), pattern, Int(sqlite3_value_bytes(values[1])))
                sqlite3_result_int(context, isFound ? 1 : 0)
            }, nil, nil, nil)
        guard result == SQLITE_OK else { throw database.failure("contains_cd") }
    }
}
