import Foundation

/// What a model's localization dictionary calls an entity and its properties.
struct LocalizedNames {
    private let description: NSEntityDescription
    private let translations: [String: String]

    init(_ entity: NSEntityDescription) {
        description = entity
        translations = entity.managedObjectModel.localizationDictionary ?? [:]
    }

    /// The entity's name: under "Entity/NAME".
    var entity: String {
        let name = description.name ?? ""
        return translations["Entity/\(name)"] ?? name
    }

    /// A property's name: under "Property/NAME/Entity/ENTITY" for its own entity or the nearest above, else under
    /// "Property/NAME".
    func property(_ name: String) -> String {
        if translations.isEmpty { return name }
        var current: NSEntityDescription? = description
        while let entity = current {
            if let text = translations["Property/\(name)/Entity/\(entity.name ?? "")"] { return text }
            current = entity.superentity
        }
        return translations["Property/\(name)"] ?? name
    }

    /// A message that the model has for an error: under "ErrorString/MESSAGE".
    func message(_ text: String) -> String { translations["ErrorString/\(text)"] ?? text }
}
