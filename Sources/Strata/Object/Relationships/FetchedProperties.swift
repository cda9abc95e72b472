import Foundation
import StrataSupport

extension NSManagedObject {
    /// The results of a fetched property's request. They are kept until the object is refreshed or becomes a fault, or
    /// the property's user info is changed, which the request may name.
    ///
    /// A store that cannot be read gives no results, and the context cannot be saved until it is rolled back or reset.
    /// - Precondition: the request makes sense.
    final func fetchedValue(_ property: NSPropertyDescription) -> Any? {
        guard let context = registry?.context,
            let index = shape.fetched.firstIndex(where: { $0.name == property.name }),
            let template = shape.fetched[index].template
        else { return [NSManagedObject]() }
        let number = shape.relationships.count + index
        while toMany.count < shape.relationships.count + shape.fetched.count { toMany.append(nil) }
        let changes = shape.fetched[index].userInfoChanges
        if let state = toMany[number], state.isLoaded, state.userInfoChanges == changes { return state.order }
        var settings = template.settings(in: shape.entity.managedObjectModel)
        settings.predicate = settings.predicate?.withSubstitutionVariables([
            "FETCH_SOURCE": self, "FETCHED_PROPERTY": shape.fetched[index],
        ])
        let plan: FetchPlan
        do {
            plan = try context.plan(of: NSFetchRequest<NSManagedObject>(settings))
        } catch let error as DescribedError where error.isOfConstants {
            // They come from this object's values.
            Warnings.once(
                "the fetched property \(shape.name).\(property.name) finds nothing: \(error.localizedDescription)")
            return [NSManagedObject]()
        } catch {
            programmerError(
                "\(shape.name).\(property.name)",
                "the request of the fetched property cannot be executed: \(error.localizedDescription)",
                "Correct the request in the model")
        }
        do {
            // Faults fire whether their task has been cancelled or not.
            let control = settings.timeLimit.map { RequestControl(timeLimit: $0) }
            // Reading a property ends no event.
            let results = try context.undisturbed {
                try FetchExecutor(context, plan, turn: context.turn(control, plan)).results()
            }
            guard case .objects(let objects) = results else { return results.any }
            let state = toMany[number] ?? ToManyState()
            state.order = objects
            state.isLoaded = true
            state.userInfoChanges = changes
            toMany[number] = state
            return objects
        } catch {
            context.recordUnread(objectID, error)
            return [NSManagedObject]()
        }
    }
}
