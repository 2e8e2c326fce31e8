// swift-tools-version: 6.3

import PackageDescription

/// One folder is one executable, which takes arguments.
struct Example {
  var name: String
  /// What it uses besides the parser of its arguments.
  var uses: [Target.Dependency]
  /// Files of the folder that are not compiled.
  var scripts: [String] = []
  var plugins: [Target.PluginUsage] = []

  var target: Target {
    .executableTarget(
      name: self.name,
      dependencies: self.uses + [.product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: self.name,
      exclude: self.scripts,
      plugins: self.plugins
    )
  }
}

let operation = Target.Dependency.product(name: "Operation", package: "swift-operation")
let server: [Target.Dependency] = ["FlyingFox", "FlyingSocks"].map { .product(name: $0, package: "FlyingFox") }
let http = Target.Dependency.product(name: "OperationHTTP", package: "swift-operation")

let examples = [
  Example(name: "agent", uses: [operation, http] + server, scripts: ["run"]),
  Example(name: "batching", uses: [operation, "PostService"]),
  Example(name: "chat", uses: [operation, http, "PostService"] + server),
  Example(name: "custom-operation-kind", uses: [operation, http, "PostService"]),
  Example(
    name: "dashboard",
    uses: [
      .product(name: "SharingOperation", package: "swift-operation"),
      .product(name: "OperationDevtools", package: "swift-operation"), "PostService",
    ]
  ),
  Example(
    name: "feed",
    uses: [operation, .product(name: "OperationEntities", package: "swift-operation"), http, "PostService"] + server
  ),
  Example(
    name: "friends",
    uses: [operation, .product(name: "OperationDerivation", package: "swift-operation"), "PostService"]
  ),
  Example(name: "job-page", uses: [operation, http, "PostService"] + server),
  Example(
    name: "pipeline",
    uses: [operation, .product(name: "OperationScheduling", package: "swift-operation"), http] + server
  ),
  Example(
    name: "quickstart",
    uses: [operation, "PostService"],
    plugins: [.plugin(name: "OperationPathKeys", package: "swift-operation")]
  ),
  Example(name: "resilient-client", uses: [operation, "PostService", "Charts"], scripts: ["resilience.svg"]),
  Example(
    name: "search",
    uses: [.product(name: "SharingOperation", package: "swift-operation"), operation, http, "PostService"] + server
  ),
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v26)],
  dependencies: [
    // The trait adds the page of OperationDevtools, which the dashboard serves with --devtools.
    .package(name: "swift-operation", path: "..", traits: ["SwiftOperationDevtools"]),
    .package(path: "Charts"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // Shared by several examples: a server that fails on purpose, the functions that send it requests, and the
    // transcript of a run.
    .target(
      name: "PostService",
      dependencies: server + [http],
      path: "PostService",
      resources: [.process("Resources")]
    )
  ] + examples.map(\.target),
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  ]
}
