// swift-tools-version: 6.3

import PackageDescription

/// What all targets are compiled with.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
]

// A package as a third party publishes it: a library that adds a modifier, one that adds a kind of operations and an
// integration, one that keeps values on the disk, and one that watches stores, answers calls and lets runs wait. All depend on
// `OperationCore` alone.
let package = Package(
  name: "operation-audit",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "OperationAudit", targets: ["OperationAudit"]),
    .library(name: "OperationBooks", targets: ["OperationBooks"]),
    .library(name: "OperationDiskCache", targets: ["OperationDiskCache"]),
    .library(name: "OperationHooks", targets: ["OperationHooks"]),
  ],
  dependencies: [.package(name: "swift-operation", path: "../..")],
  targets: [
    .target(
      name: "OperationAudit",
      dependencies: [.product(name: "OperationCore", package: "swift-operation")],
      swiftSettings: settings
    ),
    .target(
      name: "OperationBooks",
      dependencies: [.product(name: "OperationCore", package: "swift-operation")],
      swiftSettings: settings
    ),
    .target(
      name: "OperationDiskCache",
      dependencies: [.product(name: "OperationCore", package: "swift-operation")],
      swiftSettings: settings
    ),
    .target(
      name: "OperationHooks",
      dependencies: [.product(name: "OperationCore", package: "swift-operation")],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "third-party-modifier",
      dependencies: ["OperationAudit", .product(name: "OperationCore", package: "swift-operation")],
      path: "Sources/Demo",
      swiftSettings: settings
    ),
    .testTarget(
      name: "OperationAuditTests",
      dependencies: [
        "OperationAudit",
        .product(name: "OperationCore", package: "swift-operation"),
        .product(name: "OperationDedupe", package: "swift-operation"),
        .product(name: "OperationRetry", package: "swift-operation"),
        .product(name: "OperationTesting", package: "swift-operation"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "OperationBooksTests",
      dependencies: [
        "OperationBooks",
        "OperationHooks",
        .product(name: "OperationBackoff", package: "swift-operation"),
        .product(name: "OperationCore", package: "swift-operation"),
        .product(name: "OperationRetry", package: "swift-operation"),
        .product(name: "OperationTesting", package: "swift-operation"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "OperationDiskCacheTests",
      dependencies: [
        "OperationDiskCache",
        .product(name: "OperationCore", package: "swift-operation"),
        .product(name: "OperationTesting", package: "swift-operation"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "OperationHooksTests",
      dependencies: [
        "OperationHooks",
        .product(name: "OperationCore", package: "swift-operation"),
        .product(name: "OperationTesting", package: "swift-operation"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
