/// Whether to stop the program when a part of the store cannot be read, with a message that names the place: a Boolean,
/// false by default. For programs that would rather not run than work with a part of their data.
public let StrataStopOnDamageOption: String = "StrataStopOnDamageOption"
