import Foundation
import StrataSupport

extension NSManagedObjectModel {
    /// The fetch request templates by name. Each is a new request, free to be changed.
    public final var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
        templates.mapValues { NSFetchRequest($0.settings(in: self)) }
    }

    /// Keeps a request in the model under a name; nil takes the template away.
    ///
    /// - Precondition: no coordinator uses the model, and the request has names for everything: no comparators, Swift
    ///   key paths or expression descriptions.
    public final func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        guard let fetchRequestTemplate else {
            templates[name] = nil
            return
        }
        do {
            templates[name] = try FetchRequestTemplate(fetchRequestTemplate.settings)
        } catch {
            programmerError(
                "NSManagedObjectModel.setFetchRequestTemplate(_:forName:)",
                "the request cannot be a template: \(error)", "Use predicates and sort descriptors that have a notation"
            )
        }
    }

    /// A new request with what the template says, variables included; nil if there is no template of this name.
    public final func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        templates[name].map { NSFetchRequest($0.settings(in: self)) }
    }

    /// A new request with what the template says and values in the place of its predicate's variables; nil if there is
    /// no template of this name.
    ///
    /// - Parameters:
    ///   - name: the template's.
    ///   - variables: the values by name, without the dollar sign. Variables without a value stay.
    public final func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard var settings = templates[name]?.settings(in: self) else { return nil }
        settings.predicate = settings.predicate?.withSubstitutionVariables(variables)
        settings.havingPredicate = settings.havingPredicate?.withSubstitutionVariables(variables)
        return NSFetchRequest(settings)
    }
}

extension NSFetchedPropertyDescription {
    /// The request whose results are the property's value. Its predicate may refer to `$FETCH_SOURCE`, the object, and
    /// `$FETCHED_PROPERTY`, this description. What is read is a new request each time; changing it changes nothing
    /// here until it is set.
    ///
    /// - Precondition: as for ``NSManagedObjectModel/setFetchRequestTemplate(_:forName:)``.
    public final var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get { template.map { NSFetchRequest($0.settings(in: owningEntity?.owningModel)) } }
        set {
            do {
                template = try newValue.map { try FetchRequestTemplate($0.settings) }
            } catch {
                programmerError(
                    "NSFetchedPropertyDescription '\(name)'",
                    "the request cannot be that of a fetched property: \(error)",
                    "Use predicates and sort descriptors that have a notation")
            }
        }
    }
}
