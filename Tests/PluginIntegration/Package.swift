// swift-tools-version: 6.2

import PackageDescription

// Uses the plugin as a package from elsewhere does; `Scripts/check-plugins` runs it.

let pathKeys: Target.PluginUsage = .plugin(name: "OperationPathKeys", package: "swift-operation")
let operation: Target.Dependency = .product(name: "Operation", package: "swift-operation")
let core: Target.Dependency = .product(name: "OperationCore", package: "swift-operation")

let package = Package(
  name: "PluginIntegration",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "swift-operation", path: "../..")],
  targets: [
    // The umbrella, two files, keys for itself.
    .target(name: "App", dependencies: [operation, "Service"], plugins: [pathKeys]),
    // The core alone, keys for others, and imports that are internal unless they say otherwise.
    .target(
      name: "Service",
      dependencies: [core],
      swiftSettings: [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
      ],
      plugins: [pathKeys]
    ),
    // Everything on the main actor, keys for the package.
    .target(
      name: "Screens",
      dependencies: [core],
      swiftSettings: [.defaultIsolation(MainActor.self)],
      plugins: [pathKeys]
    ),
    // More keys than any real target.
    .target(name: "Large", dependencies: [core], plugins: [pathKeys]),
    .testTarget(name: "IntegrationTests", dependencies: ["App", "Screens", "Service", operation]),
  ],
  swiftLanguageModes: [.v6]
)

// Generated code has no warnings, whatever its users have switched on.
for target in package.targets {
  target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
}
