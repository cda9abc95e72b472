import Foundation

/// A function over the rows of a group.
package struct Aggregate {
    /// The functions, by the name that expressions call them.
    package enum Function: String {
        case sum = "sum:"
        case count = "count:"
        case min = "min:"
        case max = "max:"
        case average = "average:"
        case median = "median:"
        case mode = "mode:"
        case standardDeviation = "stddev:"

        /// The function that a collection operator of key paths stands for.
        package init?(operator name: String) {
            switch name {
            case "@sum": self = .sum
            case "@count": self = .count
            case "@min": self = .min
            case "@max": self = .max
            case "@avg": self = .average
            default: return nil
            }
        }

        /// What makes the value of a whole out of those of its parts; nil where they do not tell.
        var ofParts: Function? {
            switch self {
            case .sum, .count: .sum
            case .min: .min
            case .max: .max
            case .average, .median, .mode, .standardDeviation: nil
            }
        }
    }

    package let function: Function
    /// What is aggregated, over a row.
    package let argument: NSExpression
    /// Whether a value that several rows have counts once.
    package var isDistinct = false

    /// Whether another aggregate has the same value.
    package func isSame(as other: Aggregate) -> Bool { function == other.function && argument == other.argument }

    /// The variable that stands for an aggregate's value; no variable of a program's has a space in its name.
    package static func variable(_ index: Int) -> String { "aggregate \(index)" }
}
