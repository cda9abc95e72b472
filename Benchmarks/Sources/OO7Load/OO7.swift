/// The parameters of OO7 that are the same for every size.
///
/// Source: Carey, DeWitt and Naughton, The OO7 Benchmark, SIGMOD 1993, and Technical Report 1140 of the University of
/// Wisconsin; the names of its parameters are in brackets.
public enum OO7 {
    /// Composite parts of the module [NumCompPerModule].
    public static let compositeCount = 500
    /// Connections that leave an atomic part [NumConnPerAtomic]: the least of the paper's 3, 6 and 9.
    public static let connectionsPerPart = 3
    /// Levels of assemblies, base assemblies included [NumAssmLevels].
    public static let assemblyLevels = 7
    /// Assemblies under a complex one [NumAssmPerAssm].
    public static let assembliesPerAssembly = 3
    /// Composite parts of a base assembly [NumCompPerAssm].
    public static let compositesPerAssembly = 3
    /// How many times T2c and T3c change a part [UpdateRepeatCnt].
    public static let updatesPerPart = 4
    /// Parts that Q1 looks up, and titles that Q4 does.
    public static let lookupCount = 10
    /// Composite parts of an insertion [NumNewCompParts], and base assemblies that use each.
    public static let newComposites = 5
    public static let usersOfNewComposite = 10

    /// The dates of atomic parts are evenly these, and so are those of assemblies.
    static let dates = 1_000..<2_000
    /// Q2's hundredth and Q3's tenth of the dates begin here.
    public static let lastHundredth: Int64 = 1_990
    public static let lastTenth: Int64 = 1_900
    /// One composite part of so many is young [YoungCompFrac]: built after every assembly.
    static let youngOneOf = 10
    static let typeCount = 10
    /// Positions and lengths are below.
    static let positionRange = 100_000

    /// What T4 and T8 count.
    public static let wantedByte = UInt8(ascii: "I")
    /// What T5 puts in place of which beginning of a document, and takes back.
    public static let oldBeginning = "I am"
    public static let newBeginning = "This is"
}
