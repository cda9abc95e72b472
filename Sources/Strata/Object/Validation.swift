import Foundation
import StrataLog

/// Makes the errors of validation.
enum ValidationErrors {
    static func error(
        _ code: CocoaError.Code, _ object: NSManagedObject, _ key: String, value: Any? = nil
    ) -> CocoaError {
        var info: [String: Any] = [
            NSValidationObjectErrorKey: object,
            NSValidationKeyErrorKey: key,
            NSLocalizedDescriptionKey: "\(object.shape.name).\(key) is not valid (code \(code.rawValue)).",
        ]
        if let value { info[NSValidationValueErrorKey] = value }
        return CocoaError(code, userInfo: info)
    }

    /// One error for several: itself if there is one, else code 1560 with all in `NSDetailedErrorsKey`.
    static func combined(_ errors: [any Error]) -> (any Error)? {
        var all: [any Error] = []
        for error in errors {
            let details = (error as? CocoaError)?.userInfo[NSDetailedErrorsKey] as? [any Error]
            all += details ?? [error]
        }
        guard all.count > 1 else { return all.first }
        return CocoaError(.validationMultipleErrors, userInfo: [NSDetailedErrorsKey: all])
    }
}

extension NSManagedObject {
    /// Checks that what must have a value has one.
    ///
    /// - Complexity: O(1) for 64 properties when nothing is missing.
    final func validateProperties() throws {
        let shape = shape
        var errors: [any Error] = []
        for group in 0..<shape.groupCount where shape.mandatory[group] != 0 {
            var missing = shape.mandatory[group] & ~present(group)
            while missing != 0 {
                let info = shape.slots[group * 64 + missing.trailingZeroBitCount]
                missing &= missing - 1
                errors.append(ValidationErrors.error(.validationMissingMandatoryProperty, self, info.name))
            }
        }
        for index in shape.mandatoryToMany where toManyCount(shape.relationships[index]) == 0 {
            errors.append(
                ValidationErrors.error(.validationMissingMandatoryProperty, self, shape.relationships[index].name))
        }
        if errors.isEmpty { return }
        if let error = ValidationErrors.combined(errors) { throw error }
    }

    /// The mandatory slots of a group of 64 that have a value; a deleted target is none.
    private func present(_ group: Int) -> UInt64 {
        let shape = shape
        var inOverlay: UInt64 = 0
        var values: UInt64 = 0
        if let overlay {
            let words = overlay.group(group * 64)
            inOverlay = words[0]
            values = words[0] & ~words[1]
            var references = values & shape.toOneMask[group] & shape.mandatory[group]
            while references != 0 {
                let slot = group * 64 + references.trailingZeroBitCount
                if overlay.object(at: Int(shape.codes[slot].offset)).isDeleted { values &= ~Overlay.bit(slot) }
                references &= references - 1
            }
        }
        if flags.contains(.defaultsBelow) { return values | (shape.withDefault[group] & ~inOverlay) }
        guard let block else { return ~inOverlay | values }
        var rest = shape.mandatory[group] & ~inOverlay
        while rest != 0 {
            let slot = group * 64 + rest.trailingZeroBitCount
            rest &= rest - 1
            if !block.verifiedColumn(slot).isNull(Int(row)) { values |= Overlay.bit(slot) }
        }
        return values
    }
}
