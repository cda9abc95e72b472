import CoreData

/// Named by "ShopToShop2.xcmappingmodel": whatever the shop had before it counted its products is worth counting.
final class ProductPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
        for product in made { product.setValue(1, forKey: "stock") }
    }
}
