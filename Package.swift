// swift-tools-version: 6.2

import PackageDescription

// MARK: - The table

/// Every module and every test suite of the package; targets, products, paths and settings follow from it.
///
/// Dependencies go one way: Core ← Backoff ← Retry, Core ← every other module, and only the umbrella sees them all.
let table: [Module] = [
  .library("Core"),
  .library("Backoff", uses: ["Core"]),
  .library("Retry", uses: ["Core", "Backoff"]),
  .library("Dedupe", uses: ["Core"]),
  .library("Pagination", uses: ["Core"]),
  .library("Mutation", uses: ["Core"]),
  .inner("EventLoop", uses: ["Core"]),
  .library("NetworkObserving", uses: ["Core"]),
  .library("MemoryPressure", uses: ["Core"]),
  .library("ActivityObserving", uses: ["Core"]),
  .library("Testing", uses: ["Core", "Backoff"]),
  .library(
    "Operation",
    target: "Operation",
    uses: [
      "Core", "Backoff", "Retry", "Dedupe", "Pagination", "Mutation", "NetworkObserving", "MemoryPressure",
      "ActivityObserving",
    ]
  ),

  .tests("Core"),
  .tests("Backoff", uses: ["Core"]),
  .tests("Retry", uses: ["Core", "Backoff"]),
  .tests("Dedupe", uses: ["Core"]),
  .tests("Pagination", uses: ["Core", "Backoff", "Retry", "Dedupe"]),
  .tests("Mutation", uses: ["Core"]),
  .tests("EventLoop"),
  .tests("NetworkObserving", uses: ["Core"]),
  .tests("MemoryPressure", uses: ["Core"]),
  .tests("ActivityObserving", uses: ["Core"]),
  .tests("Testing", uses: ["Core", "Backoff"]),
  .tests("Operation"),
  .suite("Composition", uses: ["Operation"]),
  .suite("Seeds", uses: ["Operation"]),
]

// MARK: - The package

let package = Package(
  name: "swift-operation",
  platforms: [
    // The first systems whose runtime has `Task.immediate` (SE-0472).
    .macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26),
  ],
  products: table.compactMap(\.product),
  targets: table.map(\.packageTarget),
  swiftLanguageModes: [.v6]
)

// MARK: - What a line of the table stands for

struct Module {
  enum Kind {
    /// A target that users import, with a library product of the same name.
    case library
    /// A target that only the package's own modules import; it has no product.
    case inner
    /// A test target; it has `OperationTesting` at hand.
    case tests
  }

  var kind: Kind
  /// The folder inside `Modules` or `Tests`.
  var folder: String
  var target: String
  /// The folders of the library modules that this one imports.
  var uses: [String]

  /// The library `Operation<Folder>` in `Modules/<Folder>`.
  static func library(_ folder: String, target: String? = nil, uses: [String] = []) -> Module {
    Module(kind: .library, folder: folder, target: target ?? "Operation\(folder)", uses: uses)
  }

  /// The target `Operation<Folder>` in `Modules/<Folder>`, which is nobody's product.
  static func inner(_ folder: String, uses: [String] = []) -> Module {
    Module(kind: .inner, folder: folder, target: "Operation\(folder)", uses: uses)
  }

  /// The tests of the library in `Modules/<module>`: the target and the folder `Tests/<module>Tests`.
  static func tests(_ module: String, uses: [String] = []) -> Module {
    Module(kind: .tests, folder: "\(module)Tests", target: "\(module)Tests", uses: uses + [module])
  }

  /// Tests that belong to no single module: the target `<folder>Tests` in `Tests/<folder>`.
  static func suite(_ folder: String, uses: [String]) -> Module {
    Module(kind: .tests, folder: folder, target: "\(folder)Tests", uses: uses)
  }
}

extension Module {
  var product: Product? {
    switch kind {
    case .library: .library(name: target, targets: [target])
    case .inner, .tests: nil
    }
  }

  var packageTarget: Target {
    switch kind {
    case .library, .inner:
      .target(
        name: target,
        dependencies: dependencies,
        path: "Modules/\(folder)",
        swiftSettings: Module.settings
      )
    case .tests:
      .testTarget(
        name: target,
        dependencies: dependencies,
        path: "Tests/\(folder)",
        swiftSettings: Module.settings
      )
    }
  }

  private var dependencies: [Target.Dependency] {
    var folders = uses
    if kind == .tests, !folders.contains("Testing") { folders.append("Testing") }
    return folders.map { .target(name: Module.libraryTarget(in: $0)) }
  }

  private static func libraryTarget(in folder: String) -> String {
    guard let module = table.first(where: { $0.kind != .tests && $0.folder == folder }) else {
      fatalError("The table names no library in the folder Modules/\(folder).")
    }
    return module.target
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
    // compiler's warning would break somebody else's build. So it is opt-in; everything in Scripts turns it on.
    if Context.environment["SWIFT_OPERATION_STRICT"] == "1" {
      settings.append(.treatAllWarnings(as: .error))
    }
    return settings
  }
}
