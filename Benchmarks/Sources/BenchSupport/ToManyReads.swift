/// Articles with up to six of 1,000 tags each, three on average, in departments of 1,000: what is asked of the objects
/// at the other end of a relationship.
public protocol ToManyReads {
    /// Makes departments, tags and articles, 10,000 articles a transaction.
    func fill(articles: Int) throws

    /// How many owners satisfy a condition, whose IDs are all read.
    func count(_ query: ToManyQuery) throws -> Int

    func close() throws
}

/// Conditions on members, as predicates and in SQL.
public enum ToManyQuery: String, CaseIterable, Sendable {
    case anyName = "any_name"
    case anyObject = "any_object"
    case anyRange = "any_range"
    case none
    case all
    case count
    case countZero = "count_zero"
    case subquery
    case sum
    case both
    case reference
    case departments
    case departmentsSum = "departments_sum"
    case hops

    /// `$tag` is the tag of number 77.
    public var predicate: String {
        switch self {
        case .anyName: "ANY tags.name == 'tag 77'"
        case .anyObject: "tags CONTAINS $tag"
        case .anyRange: "ANY tags.weight > 500"
        case .none: "NONE tags.weight > 900"
        case .all: "ALL tags.weight > 200"
        case .count: "tags.@count > 5"
        case .countZero: "tags.@count == 0"
        case .subquery: "SUBQUERY(tags, $t, $t.weight > 500 AND $t.name ENDSWITH '7').@count >= 2"
        case .sum: "tags.@sum.weight > 2500"
        case .both: "score == 42 AND ANY tags.weight > 500"
        case .reference: "department.number == 7 AND ANY tags.weight > 900"
        case .departments: "ANY articles.score > 98"
        case .departmentsSum: "articles.@sum.score > 49500"
        case .hops: "ANY articles.tags.name == 'tag 77'"
        }
    }

    /// Whether departments are asked for, not articles.
    public var isOfDepartments: Bool { self == .departments || self == .departmentsSum || self == .hops }

    /// As SQLite is quickest: what is rare is found first, what is frequent is asked row by row.
    public var sql: String {
        switch self {
        case .anyName:
            "SELECT DISTINCT j.article FROM tag t JOIN article_tag j ON j.tag = t.id WHERE t.name = 'tag 77'"
        case .anyObject: "SELECT article FROM article_tag WHERE tag = 77"
        case .anyRange: "SELECT id FROM article a WHERE EXISTS (\(Self.tags) AND t.weight > 500)"
        case .none: "SELECT id FROM article a WHERE NOT EXISTS (\(Self.tags) AND t.weight > 900)"
        case .all: "SELECT id FROM article a WHERE NOT EXISTS (\(Self.tags) AND NOT t.weight > 200)"
        case .count: "SELECT article FROM article_tag GROUP BY article HAVING COUNT(*) > 5"
        case .countZero: "SELECT id FROM article a WHERE NOT EXISTS (SELECT 1 FROM article_tag WHERE article = a.id)"
        case .subquery:
            "SELECT j.article FROM tag t JOIN article_tag j ON j.tag = t.id "
                + "WHERE t.weight > 500 AND t.name LIKE '%7' GROUP BY j.article HAVING COUNT(*) >= 2"
        case .sum:
            "SELECT j.article FROM article_tag j JOIN tag t ON t.id = j.tag GROUP BY j.article "
                + "HAVING SUM(t.weight) > 2500"
        case .both: "SELECT id FROM article a WHERE score = 42 AND EXISTS (\(Self.tags) AND t.weight > 500)"
        case .reference:
            "SELECT id FROM article a WHERE department_id = 7 AND EXISTS (\(Self.tags) AND t.weight > 900)"
        case .departments:
            "SELECT id FROM department d WHERE EXISTS "
                + "(SELECT 1 FROM article a WHERE a.department_id = d.id AND a.score > 98)"
        case .departmentsSum: "SELECT department_id FROM article GROUP BY department_id HAVING SUM(score) > 49500"
        case .hops:
            "SELECT DISTINCT a.department_id FROM tag t JOIN article_tag j ON j.tag = t.id "
                + "JOIN article a ON a.id = j.article WHERE t.name = 'tag 77'"
        }
    }

    private static let tags = "SELECT 1 FROM article_tag j JOIN tag t ON t.id = j.tag WHERE j.article = a.id"
}

/// The rows that both peers have.
public enum ToManyRows {
    public static let tagCount = 1_000
    public static let articlesOfDepartment = 1_000

    public static func weight(ofTag tag: Int) -> Int { tag * 7_919 % 1_000 }

    public static func score(ofArticle article: Int) -> Int { article * 31 % 100 }

    public static func department(ofArticle article: Int, of count: Int) -> Int {
        article * 7 % max(1, count / articlesOfDepartment) + 1
    }

    /// Numbers of tags from 1 on, none twice.
    public static func tags(ofArticle article: Int) -> [Int] {
        (0..<article % 7).map { (article * 613 + $0 * 131) % tagCount + 1 }
    }
}
