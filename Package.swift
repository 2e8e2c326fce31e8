// swift-tools-version: 6.3

import CompilerPluginSupport
import PackageDescription

// MARK: - The table

/// The integrations with other packages. The packages of an integration are resolved only if its trait is on.
let integrations: [Integration] = [
  Integration(
    trait: "SwiftOperationMacros",
    description: "Adds the macros of OperationMacros: operations from functions, context entries (swift-syntax).",
    packages: ["https://github.com/swiftlang/swift-syntax": "602.0.0"..<"604.0.0"]
  ),
  Integration(
    trait: "SwiftOperationLogging",
    description: "Adds OperationLogging: runs, notices and warnings through a logger (swift-log).",
    packages: ["https://github.com/apple/swift-log": "1.16.0"..<"2.0.0"]
  ),
  Integration(
    trait: "SwiftOperationMetrics",
    description: "Adds OperationMetrics: runs, notices, stores and subscribers in a metrics backend (swift-metrics).",
    packages: ["https://github.com/apple/swift-metrics": "2.13.0"..<"3.0.0"]
  ),
  Integration(
    trait: "SwiftOperationTracing",
    description: "Adds OperationTracing: a span for each run (swift-distributed-tracing).",
    packages: ["https://github.com/apple/swift-distributed-tracing": "1.7.0"..<"2.0.0"]
  ),
  Integration(
    trait: "SwiftOperationSQLite",
    description: "Adds OperationSQLite: values and calls of mutations in an SQLite database (GRDB).",
    packages: ["https://github.com/groue/GRDB.swift": "7.10.0"..<"8.0.0"]
  ),
  Integration(
    trait: "SwiftOperationPostgreSQL",
    description: "Adds OperationPostgreSQL: values, calls of mutations and a fleet in PostgreSQL (libpq).",
    packages: [:]
  ),
  Integration(
    trait: "SwiftOperationValkey",
    description: "Adds OperationValkey: a fleet on a Valkey or Redis server (OpenSSL).",
    packages: [:]
  ),
  Integration(
    trait: "SwiftOperationAsyncHTTPClient",
    description: "Adds OperationAsyncHTTPClient: requests of OperationHTTP over AsyncHTTPClient.",
    packages: [
      "https://github.com/swift-server/async-http-client": "1.37.0"..<"2.0.0",
      "https://github.com/apple/swift-nio": "2.101.0"..<"3.0.0",
    ]
  ),
  Integration(
    trait: "SwiftOperationCrypto",
    description: "Adds OperationCrypto: keys that seal what a storage has (swift-crypto).",
    packages: ["https://github.com/apple/swift-crypto": "3.12.3"..<"5.0.0"]
  ),
  Integration(
    trait: "SwiftOperationServiceLifecycle",
    description: "Adds OperationServiceLifecycle: a client as a service (swift-service-lifecycle).",
    packages: ["https://github.com/swift-server/swift-service-lifecycle": "2.13.0"..<"3.0.0"]
  ),
  Integration(
    trait: "SwiftOperationConfiguration",
    description: "Adds OperationConfiguration: settings that change while operations run (swift-configuration).",
    packages: ["https://github.com/apple/swift-configuration": "1.4.0"..<"2.0.0"]
  ),
  Integration(
    trait: "SwiftOperationDevtools",
    description: "Adds OperationDevtools: the stores of a client, live in a browser.",
    packages: [:]
  ),
]

/// Every module and every test suite of the package; targets, products, paths and settings follow from it.
///
/// Dependencies go one way: Tools and Paths ← Stores ← Clients ← Core, which exports these four and is what others import.
/// Core ← Backoff ← Retry, CircuitBreaker and Persistence, Core and Mutation ← Tags and Persistence ← SQLite, Tags and
/// Persistence ← Fleet, Persistence ← Crypto, Core and Pagination ← Derivation, Core, Mutation and Pagination ← Entities,
/// Retry, Timeout and Freshness ← HTTP ← AsyncHTTPClient, Events ← Scheduling and what shows events, Core ← every other
/// module. Only the umbrellas see several features.
/// The targets that run in a build, from `generator` to `command`, share no target with the libraries.
/// A module with a trait is empty unless that trait is on: `#if` is around each of its files.
let table: [Module] = [
  .inner("Platform"),
  .inner("Foundation"),
  .inner("Tools", uses: ["Platform"]),
  .inner("Paths"),
  .inner("Stores", uses: ["Platform", "Foundation", "Tools", "Paths"]),
  .inner("Clients", uses: ["Foundation", "Stores"]),
  .library("Core", uses: ["Tools", "Paths", "Stores", "Clients"]),
  .library("Events", uses: ["Foundation", "Core"]),
  .library("Attempts", uses: ["Core"]),
  .library("Pausing", uses: ["Foundation", "Core"]),
  .library("Streams", uses: ["Foundation", "Core"]),
  .library("Backoff", uses: ["Core"]),
  .library("Retry", uses: ["Foundation", "Core", "Attempts", "Backoff"]),
  .library("Dedupe", uses: ["Core"]),
  .library("Pagination", uses: ["Foundation", "Core"]),
  .library("Mutation", uses: ["Foundation", "Core"]),
  .library("Tags", uses: ["Core", "Mutation"]),
  .library("Entities", uses: ["Foundation", "Core", "Mutation", "Pagination"]),
  .library("Timeout", uses: ["Foundation", "Core"]),
  .library("Fallback", uses: ["Core"]),
  .library("Freshness", uses: ["Foundation", "Core"]),
  .library("HTTP", uses: ["Foundation", "Core", "Retry", "Timeout", "Freshness"]),
  .library(
    "AsyncHTTPClient",
    uses: ["Foundation", "Core", "HTTP"],
    trait: "SwiftOperationAsyncHTTPClient",
    products: ["async-http-client": ["AsyncHTTPClient"], "swift-nio": ["NIOCore", "NIOHTTP1"]]
  ),
  .library("Chaos", uses: ["Foundation", "Core"]),
  .library("CircuitBreaker", uses: ["Foundation", "Core", "Backoff"]),
  .library("Limits", uses: ["Platform", "Foundation", "Core"]),
  .library("Hedging", uses: ["Core", "Attempts"]),
  .library("Batching", uses: ["Foundation", "Core"]),
  .library("Scheduling", uses: ["Foundation", "Core", "Events"]),
  .library("Derivation", uses: ["Platform", "Foundation", "Core", "Pagination"]),
  .library("Persistence", uses: ["Platform", "Foundation", "Core", "Backoff", "Mutation"]),
  .library(
    "SQLite",
    uses: ["Platform", "Core", "Persistence"],
    trait: "SwiftOperationSQLite",
    products: ["GRDB.swift": ["GRDB", "GRDBSQLite"]]
  ),
  .library(
    "Crypto",
    uses: ["Foundation", "Persistence"],
    trait: "SwiftOperationCrypto",
    products: ["swift-crypto": ["Crypto"]]
  ),
  .library("Fleet", uses: ["Foundation", "Core", "Tags", "Persistence"]),
  .inner("EventLoop", uses: ["Platform", "Core"]),
  .inner("ControlGroups", uses: ["Platform"]),
  .system("LibPQ", trait: "SwiftOperationPostgreSQL", pkgConfig: "libpq", apt: "libpq-dev", brew: "libpq"),
  .library(
    "PostgreSQL",
    uses: ["Foundation", "Core", "Persistence", "Fleet", "EventLoop", "LibPQ"],
    trait: "SwiftOperationPostgreSQL"
  ),
  .system("LibSSL", trait: "SwiftOperationValkey", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
  .library(
    "Valkey",
    uses: ["Platform", "Foundation", "Core", "Fleet", "EventLoop", "LibSSL"],
    trait: "SwiftOperationValkey"
  ),
  .library("NetworkObserving", uses: ["Platform", "Core", "EventLoop"]),
  .library("MemoryPressure", uses: ["Platform", "Core", "EventLoop", "ControlGroups"]),
  .library("ActivityObserving", uses: ["Platform", "Core", "EventLoop", "ControlGroups"]),
  .library("Testing", uses: ["Foundation", "Core", "Events", "Backoff"]),
  .library("PersistenceTesting", uses: ["Persistence", "Testing"]),
  .library("FleetTesting", uses: ["Core", "Fleet", "Testing"]),
  // What the macros expand to is a library, because SwiftPM builds a test that depends on macros for the compiler's side, and all
  // tests of the package with it.
  .inner(
    "MacroExpansion",
    trait: "SwiftOperationMacros",
    products: ["swift-syntax": ["SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics"]]
  ),
  .macros(
    "MacrosPlugin",
    uses: ["MacroExpansion"],
    trait: "SwiftOperationMacros",
    products: ["swift-syntax": ["SwiftSyntaxMacros", "SwiftCompilerPlugin"]]
  ),
  .library("Macros", uses: ["Core", "Mutation", "Pagination", "MacrosPlugin"], trait: "SwiftOperationMacros"),
  .library("Logging", uses: ["Core", "Events"], trait: "SwiftOperationLogging", products: ["swift-log": ["Logging"]]),
  .library("Metrics", uses: ["Core"], trait: "SwiftOperationMetrics", products: ["swift-metrics": ["CoreMetrics"]]),
  .library(
    "Tracing",
    uses: ["Core"],
    trait: "SwiftOperationTracing",
    products: ["swift-distributed-tracing": ["Tracing"]]
  ),
  .library(
    "ServiceLifecycle",
    uses: ["Core"],
    trait: "SwiftOperationServiceLifecycle",
    products: ["swift-service-lifecycle": ["ServiceLifecycle"]]
  ),
  .library(
    "Configuration",
    uses: ["Core"],
    trait: "SwiftOperationConfiguration",
    products: ["swift-configuration": ["Configuration"]]
  ),
  .library(
    "Devtools",
    uses: ["Platform", "Foundation", "Core", "Events", "NetworkObserving", "MemoryPressure"],
    trait: "SwiftOperationDevtools",
    without: ["Page/Source"]
  ),
  .program("DevtoolsProgram", "operation-devtools", uses: ["Platform", "Devtools"], trait: "SwiftOperationDevtools"),
  .inner("Top", uses: ["Platform", "Foundation"]),
  .program("TopProgram", "operation-top", uses: ["Platform", "Top"]),
  .inner("StorageTool", uses: ["Foundation", "Core", "Persistence", "SQLite"], trait: "SwiftOperationSQLite"),
  .program(
    "StorageProgram",
    "operation-storage",
    uses: ["Platform", "Foundation", "StorageTool"],
    trait: "SwiftOperationSQLite"
  ),
  .library(
    "Operation",
    target: "Operation",
    uses: [
      "Platform", "Core", "Events", "Pausing", "Streams", "Backoff", "Retry", "Dedupe", "Pagination", "Mutation",
      "NetworkObserving",
      "MemoryPressure", "ActivityObserving", "Timeout", "Fallback", "CircuitBreaker", "Limits", "Hedging", "Batching",
      "Tags", "Freshness",
      // Each of these only if its trait is on.
      "Macros", "Logging", "Metrics", "Tracing", "ServiceLifecycle", "Configuration",
    ]
  ),
  .library(
    "Resilience",
    uses: ["Backoff", "Retry", "Timeout", "Fallback", "CircuitBreaker", "Limits", "Hedging", "Batching"]
  ),
  .library(
    "Sharing",
    target: "SharingOperation",
    uses: ["Platform", "Foundation", "Operation", "Core", "Streams", "Mutation", "Pagination"]
  ),

  .generator("PathKeyGeneration"),
  .tool("PathKeysTool", uses: ["PathKeyGeneration"]),
  .buildPlugin("PathKeys", uses: ["PathKeysTool"]),
  .command("PathKeysCommand", verb: "operation-paths", "Prints and checks a package's paths.", uses: ["PathKeysTool"]),

  .fixtures("TestFixtures", uses: ["Core", "Events", "Testing", "EventLoop"]),
  .fixtures("CoreFixtures", uses: ["Core", "Testing", "TestFixtures"]),
  .fixtures("SubjectFixtures", uses: ["Persistence"]),
  // Two targets, because a target is compiled on one processor from its beginning to its end.
  .tests("Core", uses: ["CoreFixtures", "Tools", "Paths", "Stores", "Clients", "Events", "Pausing"]),
  .suite(
    "ClientTests",
    target: "ClientTests",
    uses: [
      "CoreFixtures", "Stores", "Clients", "Core", "Events", "Backoff", "Fallback", "Freshness", "Pausing", "Retry",
      "Mutation", "Derivation", "Persistence", "Streams",
    ]
  ),
  // What the runs of a request share, and what its pages are.
  .suite("RequestTests", target: "RequestTests", uses: ["Core", "Backoff", "Retry", "Dedupe", "Pagination"]),
  .tests("Mutation", uses: ["Core", "Events"]),
  .tests("Entities", uses: ["Core", "Mutation", "Pagination", "Persistence", "Derivation", "Fallback"]),
  // What values are made of, and how fresh they are.
  .suite(
    "ValuesTests",
    target: "ValuesTests",
    uses: [
      "Foundation", "Core", "Events", "Streams", "Backoff", "Retry", "Dedupe", "Pagination", "Mutation", "Timeout",
      "Fallback", "Hedging", "CircuitBreaker", "Persistence", "Tags", "Freshness", "Derivation",
    ]
  ),
  // The tests of transports run over AsyncHTTPClient as well if its trait is on.
  .tests(
    "HTTP",
    uses: ["Platform", "Core", "Backoff", "Retry", "Timeout", "EventLoop", "AsyncHTTPClient"],
    products: ["async-http-client": ["AsyncHTTPClient"]]
  ),
  // What bounds, repeats and replaces runs.
  .suite(
    "ResilienceTests",
    target: "ResilienceTests",
    uses: [
      "Core", "Attempts", "Events", "Backoff", "Retry", "Timeout", "Fallback", "CircuitBreaker", "Hedging", "Chaos",
      "Batching", "Limits", "Dedupe", "Mutation", "Pagination",
    ]
  ),
  .tests("Scheduling", uses: ["Core", "Events", "Pausing"]),
  .tests(
    "Persistence",
    uses: ["Core", "Events", "Pausing", "Backoff", "Mutation", "Pagination", "PersistenceTesting", "SubjectFixtures"]
  ),
  .tests(
    "Fleet",
    uses: [
      "Core", "Events", "Backoff", "Pagination", "Mutation", "Fallback", "Freshness", "Persistence", "Retry", "Tags",
      "Derivation", "FleetTesting",
    ]
  ),
  .subject(
    "StorageSubject",
    uses: ["Core", "Backoff", "Mutation", "Persistence", "SQLite", "SubjectFixtures"],
    trait: "SwiftOperationSQLite"
  ),
  .tests(
    "SQLite",
    uses: ["Core", "Backoff", "Mutation", "Persistence", "PersistenceTesting", "StorageSubject", "SubjectFixtures"],
    trait: "SwiftOperationSQLite",
    products: ["GRDB.swift": ["GRDB"]]
  ),
  .tests(
    "Crypto",
    uses: ["Core", "Persistence", "PersistenceTesting"],
    trait: "SwiftOperationCrypto",
    products: ["swift-crypto": ["Crypto"]]
  ),
  .subject(
    "FleetSubject",
    uses: ["Core", "Mutation", "Persistence", "PostgreSQL", "SubjectFixtures"],
    trait: "SwiftOperationPostgreSQL"
  ),
  .tests(
    "PostgreSQL",
    uses: [
      "Core", "Events", "Freshness", "Persistence", "PersistenceTesting", "Fleet", "FleetTesting", "FleetSubject",
      "SubjectFixtures",
    ],
    trait: "SwiftOperationPostgreSQL"
  ),
  .tests("Valkey", uses: ["Core", "Freshness", "Fleet", "FleetTesting"], trait: "SwiftOperationValkey"),
  // What observes the system.
  .suite(
    "ObservingTests",
    target: "ObservingTests",
    uses: [
      "Core", "Events", "Pausing", "EventLoop", "ControlGroups", "NetworkObserving", "MemoryPressure",
      "ActivityObserving", "ActivitySubject",
    ]
  ),
  .subject("ActivitySubject", uses: ["Core", "ActivityObserving", "EventLoop"]),
  .tests("Testing", uses: ["Core", "Attempts", "Events", "Streams", "Backoff", "Persistence", "PersistenceTesting"]),
  .tests("Sharing", uses: ["Platform", "Operation", "Derivation"]),
  // How code is generated, and the code that was generated.
  .suite(
    "PathKeyTests",
    target: "PathKeyTests",
    uses: ["Operation", "PathKeyGeneration"],
    without: ["Snapshots/Input"]
  ),
  // Apart from the suite above, because the keys have the same name.
  .suite("PublicPathKeySnapshots", uses: ["Core", "PathKeyGeneration"], without: ["Input"]),
  .suite(
    "Composition",
    uses: [
      "Foundation", "Operation", "Sharing", "Timeout", "Fallback", "Chaos", "Scheduling", "Persistence",
      "PersistenceTesting", "Derivation", "Entities", "Fleet",
    ]
  ),
  // Empty unless the traits of all three packages are on.
  .suite(
    "Integrations",
    uses: ["Operation", "Persistence", "Derivation", "Scheduling", "Fleet", "Devtools"],
    products: [
      "swift-log": ["Logging", "InMemoryLogging"],
      "swift-metrics": ["MetricsTestKit"],
      "swift-distributed-tracing": ["Tracing", "InMemoryTracing"],
    ]
  ),
  // What connects one other package, a folder for each. Apart from the suite above, because the umbrella's initializer of a client
  // is found in all files of a target that uses it.
  .suite(
    "PackageTests",
    target: "PackageTests",
    uses: [
      "Core", "Mutation", "Persistence", "Pausing", "Backoff", "Retry", "Dedupe", "Freshness", "CircuitBreaker",
      "Hedging", "Limits", "Logging", "Metrics", "Tracing", "ServiceLifecycle", "Configuration",
    ],
    products: [
      "swift-log": ["Logging", "InMemoryLogging"],
      "swift-metrics": ["MetricsTestKit"],
      "swift-distributed-tracing": ["Tracing", "InMemoryTracing"],
      "swift-service-lifecycle": ["ServiceLifecycle", "ServiceLifecycleTestKit"],
      "swift-configuration": ["Configuration"],
    ]
  ),
  .tests(
    "Macros",
    uses: ["Operation", "MacroExpansion"],
    trait: "SwiftOperationMacros",
    products: [
      "swift-syntax": [
        "SwiftSyntax", "SwiftDiagnostics", "SwiftParser", "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion",
        "SwiftSyntaxMacrosGenericTestSupport",
      ]
    ]
  ),
  .subject("DevtoolsSubject", uses: ["Operation", "Scheduling", "Devtools"], trait: "SwiftOperationDevtools"),
  // The tools, a folder for each.
  .suite(
    "ToolTests",
    target: "ToolTests",
    uses: [
      "Platform", "Core", "Events", "Pausing", "Retry", "Mutation", "Scheduling", "NetworkObserving", "MemoryPressure",
      "Persistence", "SQLite", "Top", "StorageTool", "StorageProgram", "Devtools", "DevtoolsSubject",
    ]
  ),
]

// MARK: - The package

let package = Package(
  name: "swift-operation",
  platforms: [
    // The first systems whose runtime has `Task.immediate` (SE-0472).
    .macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26),
  ],
  products: table.compactMap(\.product),
  traits: Set(integrations.map(\.packageTrait)),
  dependencies: Integration.packageDependencies,
  targets: table.map(\.packageTarget),
  swiftLanguageModes: [.v6]
)

// MARK: - The lines of the table

struct Module {
  enum Kind: Equatable {
    /// A target that users import, with a library product of the same name.
    case library
    /// A target that only the package's own modules import; it has no product.
    case inner
    /// A C library of the system, which its package manager installs; a trait always switches it on.
    case system(pkgConfig: String, apt: String, brew: String)
    /// A program that users run, with a product of that name. A trait makes it empty but for its `main`.
    case program(product: String)
    /// The executable of a library's macros, which the compiler starts. No test depends on it.
    case macros
    /// The library of a tool, which has no product.
    case generator
    /// An executable that plugins call.
    case tool
    /// A plugin that adds code to the targets which name it, with a product of the same name.
    case buildPlugin
    /// A plugin that `swift package <verb>` runs, with a product of the same name.
    case command(verb: String, description: String)
    /// A test target, which can also import `OperationTesting` and the fixtures.
    case tests
    /// A target that test targets share, which has no product.
    case fixtures
    /// A program that tests start, for features that affect a whole process.
    case subject
  }

  var kind: Kind
  /// The folder inside `Modules`, `Plugins` or `Tests`.
  var folder: String
  var target: String
  /// The folders of the modules that this one imports or calls.
  var uses: [String]
  /// The trait without which the module is empty; nil for a module that is always there.
  var trait: String?
  /// The products of other packages that the module imports when their traits are on, by package.
  var products: [String: [String]] = [:]
  /// The contents of the folder that are not compiled.
  var excluded: [String] = []

  /// The library `Operation<Folder>` in `Modules/<Folder>`.
  static func library(
    _ folder: String,
    target: String? = nil,
    uses: [String] = [],
    trait: String? = nil,
    products: [String: [String]] = [:],
    without excluded: [String] = []
  ) -> Module {
    Module(
      kind: .library,
      folder: folder,
      target: target ?? "Operation\(folder)",
      uses: uses,
      trait: trait,
      products: products,
      excluded: excluded
    )
  }

  /// The macros `Operation<Folder>` in `Modules/<Folder>`.
  static func macros(_ folder: String, uses: [String], trait: String, products: [String: [String]]) -> Module {
    let target = "Operation\(folder)"
    return Module(kind: .macros, folder: folder, target: target, uses: uses, trait: trait, products: products)
  }

  /// The target `Operation<Folder>` in `Modules/<Folder>`, which has no product.
  static func inner(
    _ folder: String,
    uses: [String] = [],
    trait: String? = nil,
    products: [String: [String]] = [:]
  ) -> Module {
    let target = "Operation\(folder)"
    return Module(kind: .inner, folder: folder, target: target, uses: uses, trait: trait, products: products)
  }

  /// The module map `Operation<Folder>` in `Modules/<Folder>`, which has no product.
  static func system(_ folder: String, trait: String, pkgConfig: String, apt: String, brew: String) -> Module {
    let kind = Kind.system(pkgConfig: pkgConfig, apt: apt, brew: brew)
    return Module(kind: kind, folder: folder, target: "Operation\(folder)", uses: [], trait: trait)
  }

  /// The executable `Operation<Folder>` in `Modules/<Folder>`, whose product has another name.
  static func program(_ folder: String, _ product: String, uses: [String], trait: String? = nil) -> Module {
    Module(kind: .program(product: product), folder: folder, target: "Operation\(folder)", uses: uses, trait: trait)
  }

  /// The library `Operation<Folder>` in `Plugins/<Folder>`.
  static func generator(_ folder: String) -> Module {
    Module(kind: .generator, folder: folder, target: "Operation\(folder)", uses: [])
  }

  /// The executable `Operation<Folder>` in `Plugins/<Folder>`.
  static func tool(_ folder: String, uses: [String]) -> Module {
    Module(kind: .tool, folder: folder, target: "Operation\(folder)", uses: uses)
  }

  /// The build-tool plugin `Operation<Folder>` in `Plugins/<Folder>`.
  static func buildPlugin(_ folder: String, uses: [String]) -> Module {
    Module(kind: .buildPlugin, folder: folder, target: "Operation\(folder)", uses: uses)
  }

  /// The command plugin `Operation<Folder>` in `Plugins/<Folder>`.
  static func command(_ folder: String, verb: String, _ description: String, uses: [String]) -> Module {
    let kind = Kind.command(verb: verb, description: description)
    return Module(kind: kind, folder: folder, target: "Operation\(folder)", uses: uses)
  }

  /// The target `<folder>` in `Tests/<folder>`, which test targets can import.
  static func fixtures(_ folder: String, uses: [String]) -> Module {
    Module(kind: .fixtures, folder: folder, target: folder, uses: uses)
  }

  /// The program `<folder>` in `Tests/<folder>`, which is built beside the tests that start it.
  static func subject(_ folder: String, uses: [String], trait: String? = nil) -> Module {
    Module(kind: .subject, folder: folder, target: folder, uses: uses, trait: trait)
  }

  /// The tests of the library in `Modules/<module>`: the target and the folder `Tests/<module>Tests`.
  static func tests(
    _ module: String,
    uses: [String] = [],
    trait: String? = nil,
    products: [String: [String]] = [:]
  ) -> Module {
    suite("\(module)Tests", target: "\(module)Tests", uses: uses + [module], trait: trait, products: products)
  }

  /// Tests that belong to no single module: the target `<folder>Tests` in `Tests/<folder>`.
  static func suite(
    _ folder: String,
    target: String? = nil,
    uses: [String],
    without excluded: [String] = [],
    trait: String? = nil,
    products: [String: [String]] = [:]
  ) -> Module {
    Module(
      kind: .tests,
      folder: folder,
      target: target ?? "\(folder)Tests",
      uses: uses,
      trait: trait,
      products: products,
      excluded: excluded
    )
  }
}

extension Module {
  var product: Product? {
    switch kind {
    case .library: .library(name: target, targets: [target])
    case .program(let product): .executable(name: product, targets: [target])
    case .buildPlugin, .command: .plugin(name: target, targets: [target])
    case .inner, .system, .macros, .generator, .tool, .tests, .fixtures, .subject: nil
    }
  }

  var packageTarget: Target {
    switch kind {
    case .library, .inner, .generator, .fixtures:
      .target(
        name: target,
        dependencies: dependencies,
        path: path,
        exclude: excluded,
        swiftSettings: Module.settings
      )
    case .system(let pkgConfig, let apt, let brew):
      .systemLibrary(name: target, path: path, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
    case .macros:
      .macro(name: target, dependencies: dependencies, path: path, swiftSettings: Module.settings)
    case .program, .tool, .subject:
      .executableTarget(name: target, dependencies: dependencies, path: path, swiftSettings: Module.settings)
    case .tests:
      .testTarget(
        name: target,
        dependencies: dependencies,
        path: path,
        exclude: excluded,
        swiftSettings: Module.settings
      )
    case .buildPlugin: plugin(.buildTool())
    case .command(let verb, let description):
      plugin(.command(intent: .custom(verb: verb, description: description)))
    }
  }

  private var path: String {
    switch kind {
    case .library, .inner, .system, .program, .macros: "Modules/\(folder)"
    case .generator, .tool, .buildPlugin, .command: "Plugins/\(folder)"
    case .tests, .fixtures, .subject: "Tests/\(folder)"
    }
  }

  private func plugin(_ capability: Target.PluginCapability) -> Target {
    .plugin(
      name: target,
      capability: capability,
      dependencies: uses.map { .target(name: Module.module(in: $0).target) },
      path: path
    )
  }

  private var dependencies: [Target.Dependency] {
    var folders = uses
    if kind == .tests {
      folders += ["Testing", "TestFixtures"].filter { !folders.contains($0) }
    }
    return folders.map { Module.module(in: $0).dependency(of: self) } + productDependencies
  }

  /// This module as a dependency of another one. If it has a trait, the dependency is conditional for modules without
  /// that trait. A library of the system is always a conditional one: without its trait it need not be installed.
  private func dependency(of other: Module) -> Target.Dependency {
    guard let trait, other.trait != trait || isSystem else { return .target(name: target) }
    return .target(name: target, condition: .when(traits: [trait]))
  }

  /// The products of other packages. SwiftPM resolves a package only if something unconditional, or a trait that is on,
  /// asks for one of its products.
  private var productDependencies: [Target.Dependency] {
    products.sorted { $0.key < $1.key }.flatMap { package, names -> [Target.Dependency] in
      guard let trait = integrations.first(where: { $0.names(package) })?.trait, self.trait ?? trait == trait else {
        fatalError("\(target) uses \(package), but no integration with its trait has that package.")
      }
      return names.map { .product(name: $0, package: package, condition: .when(traits: [trait])) }
    }
  }

  private var isSystem: Bool {
    if case .system = kind { true } else { false }
  }

  private static func module(in folder: String) -> Module {
    guard let module = table.first(where: { $0.kind != .tests && $0.folder == folder }) else {
      fatalError("The table names no module in the folder \(folder).")
    }
    return module
  }

  /// The settings of every target.
  static var settings: [SwiftSetting] {
    var settings: [SwiftSetting] = [
      // SE-0335: a type that erases a protocol is written with `any`.
      .enableUpcomingFeature("ExistentialAny"),
      // SE-0409: an import is internal unless it says otherwise.
      .enableUpcomingFeature("InternalImportsByDefault"),
      // SE-0444: members come only from modules that the file imports.
      .enableUpcomingFeature("MemberImportVisibility"),
      // SE-0470: a conformance of a global-actor-isolated type is isolated with it.
      .enableUpcomingFeature("InferIsolatedConformances"),
      // SE-0481: `weak let`, so that a class with a weak reference can be Sendable without `@unchecked`.
      .enableUpcomingFeature("ImmutableWeakCaptures"),
    ]
    // SE-0480: warnings are errors for those who work on the package, not for those who depend on it. SwiftPM drops
    // this setting for remote dependencies, but not for a dependency by path or an edited one, where a newer
    // compiler's warning would break the build of a user. So it is opt-in; everything in Scripts turns it on.
    if Context.environment["SWIFT_OPERATION_STRICT"] == "1" {
      settings.append(.treatAllWarnings(as: .error))
    }
    // For a build from nothing that is not worked on, as in continuous integration: a module at a time instead of a file at
    // a time, in one process that also writes the module file, and without debug information, which the frontend is told,
    // because SwiftPM's `-g` comes later than these flags. It takes a quarter less processor time. A build that follows a
    // change takes longer, so it is opt-in; `Scripts/check` turns it on.
    if Context.environment["SWIFT_OPERATION_BUILT_ONCE"] == "1" {
      let flags = ["-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo"]
      settings.append(.unsafeFlags(flags + ["-Xfrontend", "-gnone"], .when(configuration: .debug)))
    }
    return settings
  }
}

/// A trait, and the packages that are resolved only where it is on.
struct Integration {
  var trait: String
  var description: String
  /// The versions that fit, by address.
  var packages: [String: Range<Version>]

  var packageTrait: Trait { .trait(name: trait, description: description) }

  /// Whether it resolves the package with this name.
  func names(_ package: String) -> Bool { packages.keys.contains { $0.hasSuffix("/\(package)") } }

  /// The packages of all integrations, each of them once.
  static var packageDependencies: [Package.Dependency] {
    let packages = integrations.reduce(into: [:]) { $0.merge($1.packages) { $1 } }
    return packages.sorted { $0.key < $1.key }.map { .package(url: $0.key, $0.value) }
  }
}
