import Strata

extension NSManagedObjectModel {
    /// A model in code.
    ///
    /// ```swift
    /// let model = try NSManagedObjectModel {
    ///     Entity("Author") {
    ///         Attribute("name", .string, isOptional: false)
    ///         Relationship("books", .toMany("Book"), inverse: "author", deleteRule: .cascadeDeleteRule)
    ///         Index("byName", "name")
    ///     }
    ///     Entity("Book") {
    ///         Attribute("title", .string, isOptional: false)
    ///         Attribute("year", .integer16, minimum: 0)
    ///         Attribute("isbn", .string)
    ///         Relationship("author", .toOne("Author"), inverse: "books", isOptional: false)
    ///         Unique("isbn")
    ///     }
    /// }
    /// ```
    ///
    /// It can be changed until a coordinator uses it, as any model. A coordinator keeps it for the life of the process:
    /// make it once.
    ///
    /// - Throws: `ModelError` with the code `invalidModel`, which names each entity and property that something is
    ///   wrong with: a name that is none or is used twice, a destination or an inverse that does not exist or does not
    ///   lead back, a default value or limit of another type than its attribute, an index or a constraint on what the
    ///   entity does not have.
    public convenience init(@ModelBuilder _ entities: () throws -> [Entity]) throws {
        self.init()
        let assembly = try ModelAssembly(entities())
        self.entities = assembly.descriptions
    }
}
