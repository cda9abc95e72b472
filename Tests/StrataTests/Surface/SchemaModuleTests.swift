import CoreData
import Testing

/// Types that `@NSManaged` properties may have, by the modules that declare them. The plugin ManagedAccessors writes
/// symbols with the modules' names before it could ask the library, and a wrong one does not link.
@Suite struct SchemaModuleTests {
    @Test func typesAreDeclaredWhereTheAccessorToolSaysTheyAre() {
        let schema: [Any.Type] = [
            NSEntityDescription.self, NSManagedObjectModel.self, NSPropertyDescription.self,
            NSAttributeDescription.self, NSRelationshipDescription.self, NSExpression.self,
            NSComparisonPredicate.self,
        ]
        for type in schema { #expect(String(reflecting: type) == "StrataSchema.\(type)") }
        #expect(String(reflecting: NSManagedObjectID.self) == "StrataRows.NSManagedObjectID")
        let strata: [Any.Type] = [NSManagedObject.self, NSManagedObjectContext.self]
        for type in strata { #expect(String(reflecting: type) == "Strata.\(type)") }
    }
}
