import DataSet
import GRDB

/// A person as users of GRDB write it: a Codable record with an association.
struct PersonRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "person"
    static let department = belongsTo(DepartmentRecord.self)

    var id: Int64
    var name: String
    var email: String
    var age: Int16
    var score: Double
    var created: Double
    var active: Bool
    var bio: String
    var departmentId: Int64

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let age = Column(CodingKeys.age)
        static let score = Column(CodingKeys.score)
        static let bio = Column(CodingKeys.bio)
        static let departmentId = Column(CodingKeys.departmentId)
    }

    init(_ row: PersonRow) {
        id = Int64(row.id)
        name = row.name
        email = row.email
        age = row.age
        score = row.score
        created = row.created
        active = row.active
        bio = row.bio
        departmentId = Int64(row.department)
    }

    var digest: UInt64 {
        DataSet.digest(
            age: age, department: UInt64(departmentId), score: score, created: created, active: active,
            name: name, email: email, bio: bio)
    }
}

/// A department with its persons.
struct DepartmentRecord: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "department"
    static let persons = hasMany(PersonRecord.self)

    var id: Int64
    var name: String
}
