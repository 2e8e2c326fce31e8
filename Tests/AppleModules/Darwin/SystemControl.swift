// <sys/sysctl.h>

@discardableResult
public func sysctlbyname(
  _ name: UnsafePointer<CChar>!,
  _ oldValue: UnsafeMutableRawPointer!,
  _ oldSize: UnsafeMutablePointer<Int>!,
  _ newValue: UnsafeMutableRawPointer!,
  _ newSize: Int
) -> Int32 { leftOut() }
