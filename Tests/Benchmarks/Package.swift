// swift-tools-version: 6.2

import PackageDescription

// The traits of the library, apart by blanks: their cost where they are not used is measured as well.
let traits = (Context.environment["BENCHMARK_TRAITS"] ?? "").split(separator: " ")
let hasSQLite = traits.contains("SwiftOperationSQLite")

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(
      name: "swift-operation",
      path: "../..",
      traits: Set([.defaults] + traits.map { .trait(name: String($0)) })
    ),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ]
    // Bare SQLite, for comparison.
    + (hasSQLite ? [.package(url: "https://github.com/groue/GRDB.swift", "7.10.0"..<"8.0.0")] : []),
  targets: [
    .target(name: "Counters", path: "Counters"),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "Counters",
        .product(name: "OperationCore", package: "swift-operation"),
        .product(name: "OperationEvents", package: "swift-operation"),
        .product(name: "OperationBackoff", package: "swift-operation"),
        .product(name: "OperationRetry", package: "swift-operation"),
        .product(name: "OperationDedupe", package: "swift-operation"),
        .product(name: "OperationPagination", package: "swift-operation"),
        .product(name: "OperationMutation", package: "swift-operation"),
        .product(name: "OperationTimeout", package: "swift-operation"),
        .product(name: "OperationHedging", package: "swift-operation"),
        .product(name: "OperationFallback", package: "swift-operation"),
        .product(name: "OperationChaos", package: "swift-operation"),
        .product(name: "OperationCircuitBreaker", package: "swift-operation"),
        .product(name: "OperationLimits", package: "swift-operation"),
        .product(name: "OperationBatching", package: "swift-operation"),
        .product(name: "OperationPersistence", package: "swift-operation"),
        .product(name: "OperationSQLite", package: "swift-operation"),
        .product(name: "OperationScheduling", package: "swift-operation"),
        .product(name: "OperationDerivation", package: "swift-operation"),
        .product(name: "OperationTags", package: "swift-operation"),
        .product(name: "OperationFreshness", package: "swift-operation"),
        .product(name: "Operation", package: "swift-operation"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + (hasSQLite ? [.product(name: "GRDBSQLite", package: "GRDB.swift")] : []),
      path: "benchmarks",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      ] + traits.map { .define(String($0)) }
    ),
    // Programs of one query; Scripts/check-ratchets looks at their sizes.
    .executableTarget(
      name: "one-query-core",
      dependencies: [.product(name: "OperationCore", package: "swift-operation")],
      path: "one-query-core"
    ),
    .executableTarget(
      name: "one-query",
      dependencies: [.product(name: "Operation", package: "swift-operation")],
      path: "one-query"
    ),
  ],
  swiftLanguageModes: [.v6]
)
