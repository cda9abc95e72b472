import Foundation

extension NSAttributeDescription {
    /// The bytes that stand for a value of this transformable attribute; nil, which is stored as null, when a
    /// transformer of the user's own makes nothing of it.
    ///
    /// A transformer of the user's own is applied forwards. ``NSSecureUnarchiveFromDataTransformer`` and its
    /// subclasses are applied backwards, as their name says; they are also what an attribute without transformer uses.
    ///
    /// - Throws: ``ModelError`` with `transformation` if no transformer has that name, if it makes something else than
    ///   data, or if it is a secure one and does not archive the value.
    package final func transformedData(from value: Any) throws -> Data? {
        let transformer = try transformer()
        let result =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let result else {
            if let secure = transformer as? NSSecureUnarchiveFromDataTransformer, !secure.accepts(value) {
                throw ModelError(
                    .transformation,
                    "\(Swift.type(of: transformer)) does not archive a \(Swift.type(of: value)) for attribute "
                        + "'\(name)': it, or something in it, is of none of its allowedTopLevelClasses, or is a decimal "
                        + "number or nested too deep, which Linux's Foundation cannot archive")
            }
            return nil
        }
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

    /// As ``value(fromTransformedData:)``, but nil with a warning for what cannot be read.
    package final func readableValue(fromTransformedData data: Data) -> Any? {
        do {
            return try value(fromTransformedData: data)
        } catch {
            Warnings.once("the transformer of attribute '\(name)' cannot read what is stored; it reads as nil")
            return nil
        }
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
