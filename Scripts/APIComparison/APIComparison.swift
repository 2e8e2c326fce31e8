import Foundation

/// Compares the symbol graphs in two folders, and prints breakages and additions.
///
/// - `APIComparison OLD NEW ALLOWLIST`: exits with 1 when there is a breakage that the allowlist does not have, and with
///   2 when something cannot be read. OLD may be a baseline, too, which is a file.
/// - `APIComparison --write FOLDER FILE`: writes the baseline of the graphs in a folder.
@main
struct APIComparison {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else { return fail("usage: APIComparison OLD NEW ALLOWLIST, or --write FOLDER FILE") }
    do {
      if arguments[1] == "--write" {
        return try Interface(folder: URL(filePath: arguments[2])).baseline
          .write(toFile: arguments[3], atomically: true, encoding: .utf8)
      }
      let old = try interface(at: arguments[1])
      let new = try Interface(folder: URL(filePath: arguments[2]))
      let allowed = try allowlist(at: arguments[3])
      report(Comparison(from: old, to: new), allowed: allowed)
    } catch {
      fail("\(error)")
    }
  }

  private static func interface(at path: String) throws -> Interface {
    var isFolder: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    return try isFolder.boolValue ? Interface(folder: URL(filePath: path)) : Interface(baseline: URL(filePath: path))
  }

  private static func report(_ comparison: Comparison, allowed: Set<String>) {
    let breakages = comparison.breakages.filter { !allowed.contains($0) }
    show("additions", comparison.additions)
    show("breakages that are allowed", comparison.breakages.filter { allowed.contains($0) })
    show("breakages", breakages)
    let unused = allowed.subtracting(comparison.breakages).sorted()
    show("allowed, but no breakage any more", unused)
    exit(breakages.isEmpty ? 0 : 1)
  }

  private static func show(_ title: String, _ lines: [String]) {
    guard !lines.isEmpty else { return }
    print("\(lines.count) \(title):")
    for line in lines { print("  \(line)") }
  }

  /// The breakages of the list. The line above each is a comment with the reason.
  private static func allowlist(at path: String) throws -> Set<String> {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    var (allowed, hasReason) = (Set<String>(), false)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.hasPrefix("#") {
        hasReason = line.dropFirst().contains { !$0.isWhitespace }
      } else {
        if !line.isEmpty {
          guard hasReason else {
            throw MissingReason(description: "\(path):\(number + 1): no line with a reason above it")
          }
          allowed.insert(line)
        }
        hasReason = false
      }
    }
    return allowed
  }

  private static func fail(_ message: String) {
    FileHandle.standardError.write(Data("error: \(message)\n".utf8))
    exit(2)
  }
}

/// A line of the allowlist without a reason.
struct MissingReason: Error, CustomStringConvertible {
  let description: String
}
