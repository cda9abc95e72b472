import CoreData

/// The model says "Category/Extension", so that the class is written by hand and its properties are generated.
public class Customer: NSManagedObject {
    /// What all orders that were not paid are worth.
    public var debt: Decimal {
        let open = (orders?.allObjects ?? []).compactMap { $0 as? Order }.filter { !$0.isPaid }
        return open.reduce(0) { sum, order in
            let products = (order.products?.array ?? []).compactMap { $0 as? Product }
            return products.reduce(sum) { $0 + ($1.price?.decimalValue ?? 0) }
        }
    }
}
