import Foundation
import StrataLog
import StrataRuntime
import Synchronization

/// Makes the errors of validation.
enum ValidationErrors {
    /// - Parameters:
    ///   - value: nil for null.
    ///   - bound: the count that a relationship lacks or exceeds.
    ///   - message: nil for the code's own.
    static func error(
        _ code: CocoaError.Code, _ object: NSManagedObject, _ key: String, value: Any? = nil,
        predicate: NSPredicate? = nil, bound: Int? = nil, message: String? = nil
    ) -> any Error {
        let texts = ValidationTexts(
            code, object.shape.entity, key, value: value, predicate: predicate, bound: bound, message: message)
        var info: [String: Any] = [
            NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key,
            NSValidationValueErrorKey: value ?? NSNull(), NSAffectedObjectsErrorKey: [object],
            NSLocalizedDescriptionKey: texts.description, NSLocalizedFailureReasonErrorKey: texts.reason,
        ]
        if let predicate { info[NSValidationPredicateErrorKey] = predicate }
        return DescribedError(code, userInfo: info)
    }

    /// One error for several: itself if there is one, else code 1560 with all in `NSDetailedErrorsKey`.
    static func combined(_ errors: [any Error]) -> (any Error)? {
        if errors.count <= 1 { return errors.first }
        var all: [any Error] = []
        for error in errors {
            let details = (error as NSError).userInfo[NSDetailedErrorsKey] as? [any Error]
            all += details ?? [error]
        }
        let count = all.count > textsMaximum ? " and \(all.count - textsMaximum) more." : ""
        let descriptions = all.prefix(textsMaximum).map { ($0 as NSError).localizedDescription }
        let reasons = all.prefix(textsMaximum).map { error in
            // What the program's own errors say may name values.
            error is DescribedError ? (error as NSError).localizedFailureReason ?? "" : "\(Swift.type(of: error))."
        }
        return DescribedError(
            .validationMultipleErrors,
            userInfo: [
                NSLocalizedDescriptionKey: "Multiple validation errors occurred. "
                    + descriptions.joined(separator: " ") + count,
                NSLocalizedFailureReasonErrorKey: "Multiple validation errors occurred. "
                    + reasons.joined(separator: " ") + count,
                NSDetailedErrorsKey: all.map(bridged),
            ])
    }

    /// An error as one of Foundation's. Linux casts no `NSError` back to the Swift type that it stands for, so that an
    /// error of the program's own goes along under `NSUnderlyingErrorKey`.
    private static func bridged(_ error: any Error) -> NSError {
        let bridged = error as NSError
        if type(of: error) is NSError.Type || error is CocoaError { return bridged }
        var info = bridged.userInfo
        info[NSLocalizedDescriptionKey] = bridged.localizedDescription
        info[NSUnderlyingErrorKey] = info[NSUnderlyingErrorKey] ?? error
        return NSError(domain: bridged.domain, code: bridged.code, userInfo: info)
    }

    /// An error of several quotes so many of them.
    private static let textsMaximum = 5
}

extension NSManagedObject {
    /// Checks every property.
    ///
    /// - Complexity: O(1) for 64 properties when nothing is missing, plus the predicates, counts and validators that
    ///   the entity has.
    final func validateProperties() throws {
        if flags.contains(.numberOutOfRange), let error = ValidationErrors.combined(errorsOfRanges()) { throw error }
        // SAFETY: the summary's memory is never freed.
        if summary.pointee.plainValidation.pointee.load(ordering: .relaxed) == 1, lacksNothing { return }
        let rules = shape.validation
        if rules.isPlain {
            try validatePresence(nil)
        } else if rules.asksForEachKey {
            try validateEachKey(rules)
        } else {
            try validatePresence(rules)
        }
    }

    /// Whether every mandatory slot has a value: what ``validatePresence(_:)`` finds out, without references.
    final var lacksNothing: Bool {
        let summary = summary
        for group in 0..<summary.pointee.groupCount {
            let mandatory = summary.pointee.masks.mandatory[group]
            if mandatory == 0 { continue }
            var rest = mandatory
            if let overlay {
                let words = overlay.group(group * 64)
                let values = words[0] & ~words[1]
                var references = values & summary.pointee.masks.toOne[group] & mandatory
                while references != 0 {
                    let offset = Int(summary.pointee.codes[group * 64 + references.trailingZeroBitCount].offset)
                    references &= references - 1
                    if overlay.isObjectDeleted(at: offset) { return false }
                }
                rest &= ~values
                // What is null here is missing, whatever lies below.
                if rest & words[0] != 0 { return false }
            }
            if rest == 0 { continue }
            if flags.contains(.defaultsBelow) {
                if rest & ~summary.pointee.masks.withDefault[group] != 0 { return false }
            } else if let blockReference {
                // SAFETY: the object has a reference to the block.
                let isMissing = blockReference.withBorrowed { block in
                    while rest != 0 {
                        let slot = group * 64 + rest.trailingZeroBitCount
                        rest &= rest - 1
                        if block.verifiedColumn(slot).isNull(Int(row)) { return true }
                    }
                    return false
                }
                if isMissing { return false }
            }
        }
        return true
    }

    private func validatePresence(_ rules: EntityValidation?) throws {
        var errors: [any Error] = []
        let shape = shape
        for group in 0..<shape.groupCount where shape.masks.mandatory[group] != 0 {
            var missing = shape.masks.mandatory[group] & ~present(group)
            while missing != 0 {
                let info = shape.slots[group * 64 + missing.trailingZeroBitCount]
                missing &= missing - 1
                errors.append(ValidationErrors.error(.validationMissingMandatoryProperty, self, info.name))
            }
        }
        if let rules {
            for key in rules.keys {
                let isWithinLimits = key.limits?.hold(for: self) ?? false
                if isWithinLimits, key.others.isEmpty { continue }
                do {
                    try rules.check(
                        validatedValue(key), key, self, mandatory: key.isToMany, isWithinLimits: isWithinLimits)
                } catch {
                    errors.append(error)
                }
            }
        }
        if let error = ValidationErrors.combined(errors) { throw error }
    }

    /// Asks ``validateValue(_:forKey:)`` about every property; a value that it puts in place of the one it was given
    /// is set.
    private func validateEachKey(_ rules: EntityValidation) throws {
        var errors: [any Error] = []
        for key in rules.allKeys {
            let value = validatedValue(key)
            let given = value.map { $0 as AnyObject }
            var result = given
            do {
                try validateValue(&result, forKey: key.name)
            } catch {
                errors.append(error)
                continue
            }
            if result === given || isSame(result, given) { continue }
            setValue(result, forKey: key.name)
        }
        if let error = ValidationErrors.combined(errors) { throw error }
    }

    private func isSame(_ a: AnyObject?, _ b: AnyObject?) -> Bool {
        guard let a = a as? NSObject, let b = b as? NSObject else { return false }
        return a.isEqual(b)
    }

    /// The value to be checked; a target that is deleted is none.
    private func validatedValue(_ key: EntityValidation.Key) -> Any? {
        switch key.reference {
        case .slot(let slot):
            let index = shape.slots[slot].relationshipIndex
            if index < 0 { return boxedValue(slot) }
            return toOneTarget(shape.relationships[index]).flatMap { $0.isMarkedDeleted ? nil : $0 }
        case .toMany(let index):
            // Without predicates only the number of members counts, and that is known without reading them.
            let relationship = shape.relationships[index]
            if key.predicates.isEmpty, !shape.validation.asksForEachKey {
                return ValidatedCount(count: toManyCount(relationship))
            }
            return keyedValue(relationship.name)
        case .composite(let composite):
            return compositeValue(composite)
        case .fetched:
            return nil
        }
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
            var references = values & shape.masks.toOne[group] & shape.masks.mandatory[group]
            while references != 0 {
                let slot = group * 64 + references.trailingZeroBitCount
                if overlay.object(at: Int(shape.codes[slot].offset)).isMarkedDeleted { values &= ~SlotBits.bit(slot) }
                references &= references - 1
            }
        }
        if flags.contains(.defaultsBelow) { return values | (shape.masks.withDefault[group] & ~inOverlay) }
        guard let block else { return ~inOverlay | values }
        var rest = shape.masks.mandatory[group] & ~inOverlay
        while rest != 0 {
            let slot = group * 64 + rest.trailingZeroBitCount
            rest &= rest - 1
            if !block.verifiedColumn(slot).isNull(Int(row)) { values |= SlotBits.bit(slot) }
        }
        return values
    }

    /// Checks that nothing is left of the relationships whose delete rule is deny.
    ///
    /// What was deleted before it was ever saved has left the context, and denies nothing either.
    final func validateDenyRules() throws {
        guard shape.hasDenyRules else { return }
        var errors: [any Error] = []
        for relationship in shape.relationships where relationship.deleteRule == .denyDeleteRule {
            let isLeft = { (target: NSManagedObject) in !target.isMarkedDeleted && target.isInContext(of: self) }
            guard targets(relationship).contains(where: isLeft) else { continue }
            errors.append(
                ValidationErrors.error(
                    .validationRelationshipDeniedDelete, self, relationship.name, value: keyedValue(relationship.name)))
        }
        if let error = ValidationErrors.combined(errors) { throw error }
    }
}

/// Stands for the members of a to-many relationship where only their number is asked for.
struct ValidatedCount {
    var count: Int
}
