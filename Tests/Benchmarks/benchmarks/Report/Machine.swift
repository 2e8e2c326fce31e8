internal import Foundation

/// The class of machine that the numbers hold for.
struct Machine: Codable, Sendable {
  var processor: String
  var cores: Int
  var system: String

  static var current: Machine {
    Machine(
      processor: self.processorName ?? "unknown",
      cores: ProcessInfo.processInfo.activeProcessorCount,
      system: self.systemName
    )
  }

  private static var processorName: String? {
    #if os(Linux)
      let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
      let line = lines.first { $0.hasPrefix("model name") } ?? lines.first { $0.hasPrefix("CPU part") }
      return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
    #else
      return Shell.firstLine(of: ["sysctl", "-n", "machdep.cpu.brand_string"])
    #endif
  }

  private static var systemName: String {
    Shell.firstLine(of: ["uname", "-srm"]) ?? ProcessInfo.processInfo.operatingSystemVersionString
  }
}

/// The first toolchain in the path, which has built this program if `swift run` runs it.
enum Toolchain {
  static var name: String { Shell.firstLine(of: ["swift", "--version"]) ?? "unknown" }
}

private enum Shell {
  /// Returns the first line of a command's output; nil if the command fails.
  static func firstLine(of command: [String]) -> String? {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil, let data = try? output.fileHandleForReading.readToEnd() else { return nil }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }
}
