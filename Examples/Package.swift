// swift-tools-version: 6.3

import PackageDescription

/// One folder is one executable.
struct Example {
  var name: String
  var products: [Target.Dependency]
  /// Files of the folder that are not compiled.
  var scripts: [String] = []
  var plugins: [Target.PluginUsage] = []
}

let examples = [
  Example(
    name: "agent",
    products: [
      .product(name: "Operation", package: "swift-operation"),
      .product(name: "FlyingFox", package: "FlyingFox"),
      .product(name: "FlyingSocks", package: "FlyingFox"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    scripts: ["run"]
  ),
  Example(
    name: "batching",
    products: [
      .product(name: "Operation", package: "swift-operation"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      "PostService",
    ]
  ),
  Example(
    name: "custom-operation-kind",
    products: [
      .product(name: "Operation", package: "swift-operation"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      "PostService",
    ]
  ),
  Example(
    name: "dashboard",
    products: [
      .product(name: "SharingOperation", package: "swift-operation"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      "PostService",
    ]
  ),
  Example(
    name: "friends",
    products: [
      .product(name: "Operation", package: "swift-operation"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      "PostService",
    ]
  ),
  Example(
    name: "pipeline",
    products: [
      .product(name: "Operation", package: "swift-operation"),
      .product(name: "OperationScheduling", package: "swift-operation"),
      .product(name: "FlyingFox", package: "FlyingFox"),
      .product(name: "FlyingSocks", package: "FlyingFox"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ]
  ),
  Example(
    name: "quickstart",
    products: [
      .product(name: "Operation", package: "swift-operation"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      "PostService",
    ],
    plugins: [.plugin(name: "OperationPathKeys", package: "swift-operation")]
  ),
  Example(
    name: "resilient-client",
    products: [
      .product(name: "Operation", package: "swift-operation"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      "PostService",
    ],
    scripts: ["resilience.svg"]
  ),
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "swift-operation", path: ".."),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // Shared by several examples: a server that fails on purpose, the functions that send it requests, and the
    // transcript of a run.
    .target(
      name: "PostService",
      dependencies: [
        .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      path: "PostService",
      resources: [.process("Resources")]
    )
  ]
    + examples.map { example in
      .executableTarget(
        name: example.name,
        dependencies: example.products,
        path: example.name,
        exclude: example.scripts,
        plugins: example.plugins
      )
    },
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  ]
}
