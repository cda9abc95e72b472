import Foundation

extension NSAttributeDescription {
    /// The bytes that stand for a value of this transformable attribute; nil, which is stored as null, when the
    /// transformer makes nothing of it.
    ///
    /// A transformer of the user's own is applied forwards. ``NSSecureUnarchiveFromDataTransformer`` and its
    /// subclasses are applied backwards, as their name says; they are also what an attribute without transformer uses.
    ///
    /// - Throws: ``ModelError`` with `transformation` if no transformer has that name or it makes something
    ///   else than data.
    package final func transformedData(from value: Any) throws -> Data? {
        let transformer = try transformer()
        let result =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let result else { return nil }
        guard let data = result as? Data else {
            throw ModelError(
                .transformation,
                "\(Swift.type(of: transformer)) made no data of a \(Swift.type(of: value)) for attribute '\(name)'")
        }
        return data
    }

    /// The value that bytes of this transformable attribute stand for.
    ///
    /// - Throws: ``ModelError`` with `transformation` if no transformer has that name or it refuses the bytes.
    package final func value(fromTransformedData data: Data) throws -> Any {
        let transformer = try transformer()
        let result =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
        guard let result else {
            throw ModelError(
                .transformation,
                "\(Swift.type(of: transformer)) made nothing of \(data.count) bytes for attribute '\(name)'")
        }
        return result
    }

    private func transformer() throws -> ValueTransformer {
        let name = valueTransformerName ?? ""
        let key: NSValueTransformerName =
            name.isEmpty ? .secureUnarchiveFromDataTransformerName : NSValueTransformerName(name)
        guard let transformer = ValueTransformer.registered(forName: key) else {
            throw ModelError(
                .transformation, "attribute '\(self.name)' needs value transformer '\(name)', which is not registered")
        }
        return transformer
    }
}
