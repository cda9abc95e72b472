import GRDB
import YCSBLoad

/// A record as users of GRDB write it.
struct UserRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "user"

    enum Columns {
        static let key = Column(CodingKeys.key)
    }

    private static let paths: [any WritableKeyPath<UserRecord, String> & Sendable] = [
        \.field0, \.field1, \.field2, \.field3, \.field4, \.field5, \.field6, \.field7, \.field8, \.field9,
    ]

    var key: String
    var field0: String
    var field1: String
    var field2: String
    var field3: String
    var field4: String
    var field5: String
    var field6: String
    var field7: String
    var field8: String
    var field9: String

    /// - Parameter values: ten.
    init(_ key: String, _ values: [String]) {
        self.key = key
        (field0, field1, field2, field3, field4) = (values[0], values[1], values[2], values[3], values[4])
        (field5, field6, field7, field8, field9) = (values[5], values[6], values[7], values[8], values[9])
    }

    subscript(field index: Int) -> String {
        get { self[keyPath: Self.paths[index]] }
        set { self[keyPath: Self.paths[index]] = newValue }
    }

    var digest: UInt64 {
        fieldDigest(key) &+ fieldDigest(field0) &+ fieldDigest(field1) &+ fieldDigest(field2) &+ fieldDigest(field3)
            &+ fieldDigest(field4) &+ fieldDigest(field5) &+ fieldDigest(field6) &+ fieldDigest(field7)
            &+ fieldDigest(field8) &+ fieldDigest(field9)
    }
}
