import DebianIndex

/// Inserts the rows of an index in the order, and in the batches, in which the example saves its objects.
struct RowImporter {
    static let tables = """
        CREATE TABLE section (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE maintainer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT);
        CREATE TABLE package (id INTEGER PRIMARY KEY, name TEXT NOT NULL, isVirtual INTEGER NOT NULL, version TEXT,
            architecture TEXT, priority TEXT, source TEXT, homepage TEXT, summary TEXT, fileName TEXT,
            installedSizeKiB INTEGER NOT NULL, downloadSizeBytes INTEGER NOT NULL, isEssential INTEGER NOT NULL,
            maintainer INTEGER, section INTEGER);
        CREATE TABLE dependency (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, "group" INTEGER NOT NULL,
            alternative INTEGER NOT NULL, relation INTEGER NOT NULL, version TEXT, qualifier TEXT, unresolvedName TEXT,
            package INTEGER, target INTEGER);
        """
    static let indexes = """
        CREATE INDEX package_maintainer ON package (maintainer);
        CREATE INDEX package_section ON package (section);
        CREATE INDEX dependency_package ON dependency (package);
        CREATE INDEX dependency_target ON dependency (target);
        """

    private let database: Database
    private let batchSize: Int
    private var pending = 0

    init(database: Database, batchSize: Int) {
        self.database = database
        self.batchSize = batchSize
    }

    /// Inserts everything and returns when the last commit has.
    mutating func run(_ index: PackageIndex) throws {
        try database.run("BEGIN")
        try insertNames(index)
        try insertPackages(index.packages)
        try insertDependencies(index.dependencies)
        try database.run("COMMIT")
    }

    private mutating func insertNames(_ index: PackageIndex) throws {
        let section = try Statement(database, "INSERT INTO section VALUES (?, ?)")
        for (id, name) in index.sections.enumerated() {
            section.bind(id + 1)
            section.bind(name)
            try insert(section)
        }
        let maintainer = try Statement(database, "INSERT INTO maintainer VALUES (?, ?, ?)")
        for (id, field) in index.maintainers.enumerated() {
            let (name, email) = MaintainerField.split(field)
            maintainer.bind(id + 1)
            maintainer.bind(name)
            maintainer.bind(email)
            try insert(maintainer)
        }
    }

    private mutating func insertPackages(_ packages: [PackageRecord]) throws {
        let statement = try Statement(
            database, "INSERT INTO package VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        for (id, package) in packages.enumerated() {
            statement.bind(id + 1)
            statement.bind(package.name)
            statement.bind(package.isVirtual ? 1 : 0)
            statement.bind(package.isVirtual ? nil : package.version)
            statement.bind(package.isVirtual ? nil : package.architecture)
            statement.bind(package.priority)
            statement.bind(package.source)
            statement.bind(package.homepage)
            statement.bind(package.summary)
            statement.bind(package.fileName)
            statement.bind(Int(package.installedSizeKiB))
            statement.bind(Int(package.downloadSizeBytes))
            statement.bind(package.isEssential ? 1 : 0)
            statement.bind(package.maintainer.map { $0 + 1 })
            statement.bind(package.section.map { $0 + 1 })
            try insert(statement)
        }
    }

    private mutating func insertDependencies(_ dependencies: [DependencyRecord]) throws {
        let statement = try Statement(database, "INSERT INTO dependency VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        for (id, dependency) in dependencies.enumerated() {
            statement.bind(id + 1)
            statement.bind(Int(dependency.kind.rawValue))
            statement.bind(dependency.group)
            statement.bind(dependency.alternative)
            statement.bind(Int(dependency.relation.rawValue))
            statement.bind(dependency.version)
            statement.bind(dependency.qualifier)
            statement.bind(dependency.unresolvedName)
            statement.bind(dependency.owner + 1)
            statement.bind(dependency.target.map { $0 + 1 })
            try insert(statement)
        }
    }

    private mutating func insert(_ statement: Statement) throws {
        if pending == batchSize {
            try database.run("COMMIT; BEGIN")
            pending = 0
        }
        try statement.step()
        pending += 1
    }
}
