// swift-tools-version: 6.3

import PackageDescription

// A package of its own: an HTTP server and five traits, which take minutes to build and which the other examples do not
// need. The load needs none of them: `swift build --product load` is done soon.
let package = Package(
  name: "service",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(
      name: "swift-operation",
      path: "../..",
      traits: [
        .defaults, "SwiftOperationLogging", "SwiftOperationMetrics", "SwiftOperationTracing",
        "SwiftOperationServiceLifecycle", "SwiftOperationConfiguration",
      ]
    ),
    .package(path: "../Charts"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(
      url: "https://github.com/apple/swift-configuration",
      from: "1.4.0",
      traits: [.defaults, "Reloading"]
    ),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
  ],
  targets: [
    .executableTarget(
      name: "service",
      dependencies: [
        .product(name: "Operation", package: "swift-operation"),
        .product(name: "OperationHTTP", package: "swift-operation"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      path: "Sources",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      ]
    ),
    // The service of the article "A service in eighty lines", with the servers and the readers that check it.
    .executableTarget(
      name: "small",
      dependencies: [
        .product(name: "Operation", package: "swift-operation"),
        .product(name: "OperationHTTP", package: "swift-operation"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ],
      path: "Small",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      ]
    ),
    // Its load: traffic, services that are compared, and their numbers.
    .executableTarget(
      name: "load",
      dependencies: [
        .product(name: "Charts", package: "Charts"),
        .product(name: "Operation", package: "swift-operation"),
      ],
      path: "Load",
      exclude: ["load.svg"],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)
