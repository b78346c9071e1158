/** The programs that draw points in space, in GLSL ES 3.0. */

export const VERTEX_SHADER = `#version 300 es
uniform mat4 matrix;
uniform vec2 radii;
uniform vec3 ground;
uniform vec3 mark;
uniform bool faint;
uniform bool numbers;
in vec3 positions;
in vec4 looks;
in float chosen;
flat out vec3 ink;
flat out float radius;

void main() {
    gl_Position = matrix * vec4(positions, 1.0);
    radius = mix(radii.x, radii.y, looks.a) / gl_Position.w;
    ink = looks.rgb;
    if (numbers) {
        uint number = uint(gl_VertexID) + 1u;
        ink = vec3(number & 255u, (number >> 8) & 255u, (number >> 16) & 255u) / 255.0;
    } else if (chosen > 0.0) {
        ink = mark;
        radius = max(1.25 * radius, 1.5);
    } else if (faint) ink = mix(ground, looks.rgb, 0.35);
    gl_PointSize = max(1.0, 2.0 * radius);
}`;

// discs of one or two pixels are squares: they are too small for smooth edges
export const FRAGMENT_SHADER = `#version 300 es
precision highp float;
uniform bool numbers;
flat in vec3 ink;
flat in float radius;
out vec4 colour;

void main() {
    float away = length(2.0 * gl_PointCoord - 1.0);
    if (radius > 1.0 && away > 1.0) discard;
    // a darker rim separates overlapping discs
    float rim = numbers || radius < 2.0 ? 1.0 : 1.0 - 0.3 * away * away;
    colour = vec4(ink * rim, 1.0);
}`;
