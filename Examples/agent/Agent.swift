import ArgumentParser

/// A small service that watches an endpoint, and the endpoint.
@main
struct Agent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract:
      "Watches an endpoint, and shows what happens when the network is lost, when it is stopped, and when memory is short.",
    discussion: "Examples/agent/run plays a story with it, in a network of its own.",
    subcommands: [Watch.self, Serve.self]
  )
}
