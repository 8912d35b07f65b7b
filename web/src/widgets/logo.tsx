export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
      <ellipse cx="10" cy="16" rx="8" ry="3" fill="var(--accent)" />
      <ellipse cx="10" cy="10.5" rx="5.6" ry="2.5" fill="var(--accent)" opacity=".75" />
      <ellipse cx="10" cy="5.6" rx="3.4" ry="2" fill="var(--accent)" opacity=".5" />
    </svg>
  );
}
