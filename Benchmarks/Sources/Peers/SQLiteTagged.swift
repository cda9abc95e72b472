public import BenchSupport
import CSQLite

/// Articles and their tags in SQLite, with an index for each way that is asked for.
public final class SQLiteTagged: ToManyReads {
    private let database: SQLiteDatabase

    /// Creates the database below `folder`.
    public init(in folder: Folder) throws {
        database = try SQLiteDatabase(path: folder.appending("db.sqlite").path)
        try database.execute(
            """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=4294967296;
            PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;
            CREATE TABLE department(id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
            CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight INTEGER NOT NULL);
            CREATE TABLE article(id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL,
                department_id INTEGER NOT NULL);
            CREATE TABLE article_tag(article INTEGER NOT NULL, tag INTEGER NOT NULL, PRIMARY KEY(article, tag))
                WITHOUT ROWID;
            CREATE INDEX tag_article ON article_tag(tag, article);
            CREATE INDEX tag_name ON tag(name);
            CREATE INDEX article_department ON article(department_id);
            """)
    }

    public func fill(articles: Int) throws {
        try database.execute("BEGIN")
        for number in 1...max(1, articles / ToManyRows.articlesOfDepartment) {
            try database.execute("INSERT INTO department VALUES(\(number), \(number))")
        }
        for tag in 1...ToManyRows.tagCount {
            try database.execute("INSERT INTO tag VALUES(\(tag), 'tag \(tag)', \(ToManyRows.weight(ofTag: tag)))")
        }
        let article = try database.statement("INSERT INTO article VALUES(?1, 'article ' || ?1, ?2, ?3)")
        let link = try database.statement("INSERT INTO article_tag VALUES(?, ?)")
        for number in 1...articles {
            sqlite3_bind_int64(article, 1, Int64(number))
            sqlite3_bind_int64(article, 2, Int64(ToManyRows.score(ofArticle: number)))
            sqlite3_bind_int64(article, 3, Int64(ToManyRows.department(ofArticle: number, of: articles)))
            try database.run(article)
            for tag in ToManyRows.tags(ofArticle: number) {
                sqlite3_bind_int64(link, 1, Int64(number))
                sqlite3_bind_int64(link, 2, Int64(tag))
                try database.run(link)
            }
            if number % 10_000 == 0 { try database.execute("COMMIT; BEGIN") }
        }
        try database.execute("COMMIT; ANALYZE")
    }

    public func count(_ query: ToManyQuery) throws -> Int {
        let statement = try database.statement(query.sql)
        defer { sqlite3_reset(statement) }
        var ids: [Int64] = []
        while sqlite3_step(statement) == SQLITE_ROW { ids.append(sqlite3_column_int64(statement, 0)) }
        return ids.count
    }

    public func close() { database.close() }
}
